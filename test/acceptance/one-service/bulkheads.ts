import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { seedOrder, seedRefund } from '../../orders/orders.ts'
import { ALICE, Client, DEMO_APP } from '../client.ts'
import { httpWire } from '../http.ts'
import { decision, makeSeller, REFUND, type Seller, send } from '../seller.ts'
import { type RunningProcess, sharedSystem } from '../system.ts'

/** A locked table stops only the room that needs it. */

const NOTICES = 40
const READS = 60

let running: RunningProcess
let pool: pg.Pool
let client: Client
let seller: Seller
beforeAll(async () => {
  const { add, databaseUrl } = await sharedSystem()
  running = await add({ LOG_LEVEL: 'info', QUEUE_WAIT_MS: '3000', DEMO: 'off', JOBS: 'off' })
  pool = new pg.Pool({ connectionString: databaseUrl, max: 2 })
  client = new Client(httpWire(running.origin), running.origin)
  seller = await makeSeller(client)
})
afterAll(async () => {
  await pool?.end()
  await running?.stop()
})

describe('while the table of refunds is locked and notices about refunds come in', () => {
  it('user data can be read, codes can be exchanged and /readyz says ready', async () => {
    const alice = await client.signedIn(ALICE)
    const { access_token } = await client.getTokens(alice, DEMO_APP)
    const orderId = 8_985_652_356_562_395_000n
    const partnerId = Number(seller.partnerId)
    await seedOrder(pool, { orderId, partnerId, quantity: 3 })
    for (let n = 0; n < NOTICES; n++) await seedRefund(pool, { refundId: `R${n}`, orderId, partnerId })

    const lock = await pool.connect()
    await lock.query('begin; lock table refund')
    const notices = Array.from({ length: NOTICES }, (_, n) =>
      send(running.origin, seller, { path: REFUND, body: decision(orderId, `R${n}`, 200) }),
    )
    await sleep(300)
    const seen: Record<string, number> = {}
    const count = (what: string, status: number) => {
      seen[`${what} ${status}`] = (seen[`${what} ${status}`] ?? 0) + 1
    }
    for (let n = 0; n < READS; n++) {
      count('read', (await client.userInfo(access_token)).status)
      if (n % 10 === 0) count('ready', (await client.call('GET', '/readyz')).status)
    }
    const { code, state } = await client.getCode(alice, DEMO_APP)
    count('exchange', (await client.exchange(DEMO_APP, { code, state })).status)
    await lock.query('rollback')
    lock.release()
    const answers = await Promise.all(notices)
    process.stdout.write(`refund locked: ${JSON.stringify(seen)}\n`)
    expect(seen).toEqual({ 'read 200': READS, 'ready 200': READS / 10, 'exchange 200': 1 })
    for (const { status, headers } of answers) {
      expect([200, 503]).toContain(status)
      if (status === 503) expect(headers['retry-after']).toMatch(/^\d+$/)
    }
  })
})
