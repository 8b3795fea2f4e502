import { execFileSync } from 'node:child_process'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { signatureOf } from '../signer.ts'
import { Client } from './client.ts'
import { httpWire } from './http.ts'
import { BA_FAILED, CONSUME, consumption, failure, makeSeller, type Seller, send } from './seller.ts'
import { type System, startSystem } from './system.ts'

/** Bodies that never end take little memory, whoever sends them, and do not hold up other callers. */

const MIB = 1_048_576
const ANNOUNCED = MIB
const SENT = Math.floor(0.94 * MIB)
const CALLERS = 250
/**
 * Keeping the bodies would take 240 MB. Data that is read and dropped stays in memory until the next garbage
 * collection, which may be late on a busy machine.
 */
const MAX_GROWTH_MB = 200
const BODY_TIMEOUT_S = 3

let system: System
let seller: Seller
let neighbour: Seller
beforeAll(async () => {
  const settings = { BODY_TIMEOUT_S: String(BODY_TIMEOUT_S), BODY_MEMORY_MB: '32', LOG_LEVEL: 'info' }
  system = await startSystem({ ...settings, DEMO: 'off', JOBS: 'off' })
  const client = new Client(httpWire(system.origin), system.origin)
  seller = await makeSeller(client)
  neighbour = await makeSeller(client)
})
afterAll(() => system?.stop())

const residentMb = (): number => {
  const pid = String(system.processes[0]?.child.pid)
  return Number(execFileSync('ps', ['-o', 'rss=', '-p', pid], { encoding: 'utf8' })) / 1024
}

interface Slow {
  readonly socket: Socket
  /** What has come back so far. */
  answer(): string
}

let opened: Slow[] = []
afterEach(() => {
  for (const { socket } of opened) socket.destroy()
  opened = []
})

const part = Buffer.alloc(SENT, ' ')

/** Announces a body of 1 MiB, sends most of it and then nothing more. */
function sendPart(path: string, headers: Readonly<Record<string, string>>): Promise<Slow> {
  const { hostname, port } = new URL(system.origin)
  const socket = connect(Number(port), hostname)
  let text = ''
  socket.setEncoding('utf8').on('data', (more: string) => {
    text += more
  })
  socket.on('error', () => {})
  const head = Object.entries({ Host: hostname, 'Content-Length': String(ANNOUNCED), ...headers })
  socket.write(`POST ${path} HTTP/1.1\r\n${head.map(([name, value]) => `${name}: ${value}`).join('\r\n')}\r\n\r\n`)
  const slow = { socket, answer: () => text }
  opened.push(slow)
  return new Promise((resolve) => {
    socket.write(part, () => resolve(slow))
    socket.once('close', () => resolve(slow))
  })
}

function signedHeaders({ partnerId, clientId, clientSecret }: Seller, path: string): Record<string, string> {
  const date = new Date().toUTCString()
  const signature = signatureOf({ method: 'POST', path, date, secret: clientSecret })
  return {
    PartnerId: partnerId,
    Date: date,
    Authorization: `MWS ${clientId}:${signature}`,
    'Content-Type': 'application/json',
  }
}

const wrongHeaders = (path: string) => signedHeaders({ ...seller, clientSecret: 'x' }, path)

/** The peak growth of the process in MB while all slow bodies are open. */
async function growthOf(path: string, headers: () => Record<string, string>): Promise<number> {
  const before = residentMb()
  let most = before
  const watch = setInterval(() => {
    most = Math.max(most, residentMb())
  }, 200)
  await Promise.race([Promise.all(Array.from({ length: CALLERS }, () => sendPart(path, headers()))), sleep(10_000)])
  await sleep(1_000)
  clearInterval(watch)
  process.stdout.write(`${CALLERS} slow bodies to ${path}: ${Math.round(before)} MB, at most ${Math.round(most)} MB\n`)
  return most - before
}

/** Waits until every caller has got the answer: none is cut off before it. */
const untilTold = (count: () => number) => expect.poll(count, { interval: 200 }).toBe(CALLERS)

const told = (text: string) => opened.filter(({ answer }) => answer().includes(text)).length

describe('a body that never ends', () => {
  it.each([
    ['a notice', CONSUME],
    ['the headless API', '/sandbox/api/runs'],
  ])('is not read when the signature is wrong: %s', async (_name, path) => {
    expect(await growthOf(path, () => wrongHeaders(path))).toBeLessThan(MAX_GROWTH_MB)
    await untilTold(() => told(failure(seller, BA_FAILED)))
  })

  it.each(['/mtp/api/nowhere', '/nowhere', '/oauth/v2/nowhere'])('is not read at an unknown path: %s', async (path) => {
    expect(await growthOf(path, () => ({ 'Content-Type': 'application/json' }))).toBeLessThan(MAX_GROWTH_MB)
    await untilTold(() => told('404 Not Found'))
  })

  it('takes no more than the share of its partner, so that others are served meanwhile', async () => {
    const growth = growthOf(CONSUME, () => signedHeaders(seller, CONSUME))
    await sleep(500)
    const answer = await send(system.origin, neighbour, { body: consumption({ orderId: 1n }) })
    expect(answer.text).toBe(failure(neighbour, 'order 1 does not exist'))
    expect(await growth).toBeLessThan(MAX_GROWTH_MB)
    const tooSlow = failure(seller, `HTTP body: did not arrive within ${BODY_TIMEOUT_S} seconds`)
    await untilTold(() => told(tooSlow) + told('503 Service Unavailable'))
    expect(told(tooSlow), 'whoever had a place is told why it lost it').toBeGreaterThan(0)
    const refused = opened.filter(({ answer: of }) => of().includes('503 Service Unavailable'))
    expect(refused.length, 'the others').toBeGreaterThan(0)
    for (const { answer: of } of refused) expect(of()).toMatch(/retry-after: \d/i)
    const { text } = await send(system.origin, seller, { body: consumption({ orderId: 1n }) })
    expect(text, 'and then it is served again').toBe(failure(seller, 'order 1 does not exist'))
  })
})
