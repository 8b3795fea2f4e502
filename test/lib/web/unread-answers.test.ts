import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, expect, it } from 'vitest'
import { RequestLimit } from '../../../src/platform/lib/web/request-limit.ts'
import { until } from '../../until.ts'

/** Together more than the kernel buffers for one connection. */
const PARTS = Array.from({ length: 512 }, () => Buffer.alloc(65_536, 'a'))
const TOTAL = PARTS.length * 65_536

let limit: RequestLimit
let clients: Socket[] = []
let close = (): void => {}
afterEach(() => {
  for (const client of clients) client.destroy()
  clients = []
  close()
})

/** Answers `/slow` later than `withinMs`, and everything with all PARTS. Returns how to ask it, and whom it gave up. */
async function open(withinMs: number) {
  const unread: string[] = []
  limit = new RequestLimit(100, () => undefined)
  limit.onUnread = ({ remoteAddress = '' }) => unread.push(remoteAddress)
  const server = createServer()
  limit.guard(
    server,
    100,
    async ({ url }, response) => {
      if (url === '/slow') await sleep(1.5 * withinMs)
      Readable.from(PARTS).pipe(response)
    },
    withinMs,
  )
  await once(server.listen(0, '127.0.0.1'), 'listening')
  close = () => server.close()
  const ask = (path: string): Socket => {
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1').pause()
    client.on('error', () => {})
    client.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`)
    clients.push(client)
    return client
  }
  return { unread, ask }
}

it('gives up clients that do not read their answer, which then no longer counts as in progress', async () => {
  const { unread, ask } = await open(300)
  ask('/').write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
  ask('/')
  await until(() => limit.inProgress >= 2)
  await until(() => limit.inProgress === 0)
  expect(unread).toEqual(['127.0.0.1', '127.0.0.1'])
})

it('keeps a client that reads slowly, and one whose answer takes long', async () => {
  // Longer than a busy machine pauses this process, which is server and clients.
  const { unread, ask } = await open(3_000)
  const [slowReader, late] = [ask('/'), ask('/slow')]
  const read = { slowReader: 0, late: 0 }
  slowReader.on('data', ({ length }) => {
    read.slowReader += length
    slowReader.pause()
  })
  const reading = setInterval(() => slowReader.resume(), 1)
  late.on('data', ({ length }) => {
    read.late += length
  })
  late.resume()
  await until(() => unread.length > 0 || (read.late > TOTAL && read.slowReader > TOTAL / 2))
  clearInterval(reading)
  expect(unread).toEqual([])
})
