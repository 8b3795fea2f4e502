import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { expectFailure } from '../expectations.ts'
import type { Answer } from '../http.ts'
import { type System, sharedSystem } from '../system.ts'

/** Malformed HTTP, sent as raw bytes, is answered with the envelope all the same. */

let system: System
beforeAll(async () => {
  system = await sharedSystem()
})
afterAll(() => system?.stop())

/** Writes the bytes and reads until the other side closes. */
function sendRaw(bytes: string | Buffer): Promise<Answer> {
  const { hostname, port } = new URL(system.origin)
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    const socket = connect(Number(port), hostname)
    socket.on('data', (chunk) => chunks.push(chunk))
    socket.on('error', reject)
    socket.on('close', () => resolve(parse(Buffer.concat(chunks).toString('utf8'))))
    socket.write(bytes)
  })
}

function parse(text: string): Answer {
  const [head = '', body = ''] = text.split('\r\n\r\n')
  const [statusLine = '', ...lines] = head.split('\r\n')
  const headers = lines.map((line) => [
    line.slice(0, line.indexOf(':')).toLowerCase(),
    line.slice(line.indexOf(':') + 1).trim(),
  ])
  return { status: Number(statusLine.split(' ')[1]), headers: Object.fromEntries(headers), text: body }
}

const request = (target: string | Buffer, method = 'GET'): Buffer =>
  Buffer.concat([
    Buffer.from(`${method} `),
    Buffer.from(target),
    Buffer.from(' HTTP/1.1\r\nHost: localhost\r\nAccept: application/json\r\nConnection: close\r\n\r\n'),
  ])

describe('a request that Node cannot parse as HTTP gets the envelope:', () => {
  it.each([
    ['no HTTP at all', 'hello\r\n\r\n'],
    ['an unknown version', 'GET /oauth/v2/authorize HTTP/9.9\r\nHost: x\r\n\r\n'],
    ['an unknown method', 'FETCH /oauth/v2/authorize HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['a header without a name', 'GET /oauth/v2/authorize HTTP/1.1\r\n: x\r\n\r\n'],
    ['a space in the target', 'GET /oauth/v2/authorize?a=b c HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['invalid UTF-8 in the query', request(Buffer.from([...Buffer.from('/oauth/v2/authorize?state='), 0xff, 0xfe]))],
    ['raw UTF-8 in the query', request('/oauth/v2/authorize?state=名')],
    ['no Host', 'GET /oauth/v2/authorize HTTP/1.1\r\n\r\n'],
    ['two Hosts', 'GET /oauth/v2/authorize HTTP/1.1\r\nHost: a\r\nAccept: */*\r\nhOST: b\r\n\r\n'],
    ['the same Host twice, in HTTP/1.0', 'GET /oauth/v2/authorize HTTP/1.0\r\nHost: a\r\nHost: a\r\n\r\n'],
  ])('%s', async (_name, bytes) => {
    expectFailure(await sendRaw(bytes), { rescode: 20007, status: 400 })
  })
})

it('a missing Host gets the envelope of area B on its paths; HTTP/1.0 needs no Host', async () => {
  const { status, text } = await sendRaw('POST /mtp/api/order/test/ba HTTP/1.1\r\nContent-Length: 0\r\n\r\n')
  expect([status, JSON.parse(text).code]).toEqual([400, 300])
  expectFailure(await sendRaw('POST /oauth/v2/api/token HTTP/1.0\r\n\r\n'), { rescode: 20001 })
})

it('a missing Host is answered after the earlier requests of the connection', async () => {
  const a5 = 'POST /oauth/v2/api/resource/get_userinfo?access_token=x HTTP/1.1\r\n'
  const { status, text } = await sendRaw(`${a5}Host: x\r\nContent-Length: 0\r\n\r\n${a5}Content-Length: 0\r\n\r\n`)
  expect(status).toBe(200)
  expect(text).toMatch(/^\{"rescode":\d+[^\n]*\}HTTP\/1\.1 400 Bad Request/)
})

it('an unknown Expect header is ignored', async () => {
  for (const expectation of ['200-ok', '100-continued', 'x=y']) {
    const head = `POST /oauth/v2/api/token HTTP/1.1\r\nHost: x\r\nExpect: ${expectation}\r\nConnection: close\r\n`
    expectFailure(await sendRaw(`${head}\r\n`), { rescode: 20001 })
  }
})

describe('request line and headers', () => {
  const filler = (kib: number) => 'y'.repeat(kib * 1024)

  it.each([
    ['a query', `GET /oauth/v2/authorize?x=${filler(33)} HTTP/1.1\r\nHost: x\r\n\r\n`],
    ['a header', `GET /oauth/v2/authorize HTTP/1.1\r\nHost: x\r\nX: ${filler(33)}\r\n\r\n`],
    ['many headers', `GET / HTTP/1.1\r\nHost: x\r\n${`X: ${filler(1)}\r\n`.repeat(33)}\r\n`],
  ])('beyond 32 KiB are refused with 431: %s', async (_name, bytes) => {
    expectFailure(await sendRaw(bytes), { rescode: 20007, status: 431, message: /32 KiB/ })
  })

  it('beyond 32 KiB are refused with the envelope of area B on its paths', async () => {
    for (const path of ['/mtp/api/order/consume/notice', '/rhone/mtp/api/deal/change/notice', '/sandbox/api/runs']) {
      const { status, text } = await sendRaw(`POST ${path} HTTP/1.1\r\nHost: x\r\nX: ${filler(33)}\r\n\r\n`)
      expect([status, JSON.parse(text)]).toEqual([
        431,
        { code: 300, describe: 'the request line and headers are longer than 32 KiB', partnerId: '' },
      ])
    }
  })

  it('below 32 KiB are read: a URL beyond 8 KiB is 20007', async () => {
    const answer = await sendRaw(request(`/oauth/v2/authorize?x=${filler(24)}`))
    expectFailure(answer, { rescode: 20007, message: /8 KiB/ })
  })
})

describe('a target that no browser sends:', () => {
  it.each([
    ['an overlong encoding', '/oauth/v2/authorize?state=%c0%80'],
    ['half a surrogate pair', '/oauth/v2/authorize?state=%ed%a0%80'],
    ['broken percent-encoding in a name', '/oauth/v2/authorize?%zz=1'],
    ['a lonely percent sign', '/oauth/v2/authorize?state=%'],
  ])('%s', async (_name, target) => {
    expectFailure(await sendRaw(request(target)), { rescode: 20007, message: /decoded/ })
  })

  it.each(['/oauth/v2/%', '/oauth/v2/%c3', '/oauth/v2/authorize%zz', '/%ff'])('%s as a path', async (target) => {
    expectFailure(await sendRaw(request(target)), { rescode: 20007, status: 404 })
  })

  it('an absolute target is read like any other', async () => {
    const answer = await sendRaw(request('http://localhost/oauth/v2/api/token', 'POST'))
    expect(answer.text).toContain('"rescode":20001')
  })

  it('the service is still ready afterwards', async () => {
    expect((await sendRaw(request('/readyz'))).status).toBe(200)
  })
})

describe('a peer that keeps its side open after it sent no HTTP', () => {
  it('is disconnected soon, so that such peers cannot use up the file descriptors', async () => {
    const { hostname, port } = new URL(system.origin)
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true })
    const failed = once(socket, 'error')
    socket.resume().write('hello\r\n\r\n')
    await once(socket, 'end')
    // Once it has closed the connection, the service answers with a reset.
    const asking = setInterval(() => socket.write('is anybody there?'), 100)
    // Far less than Node's timeout for headers.
    const gone = Promise.race([failed.then(() => 'gone'), sleep(30_000, 'still there')])
    expect(await gone.finally(() => clearInterval(asking))).toBe('gone')
    socket.destroy()
  })
})
