import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { historyOf, recordOf, seedOrder } from '../orders/orders.ts'
import { runningDatabaseUrl } from '../own-postgres.ts'
import { Client } from './client.ts'
import { httpWire } from './http.ts'
import { consumption, makeSeller, type Seller, send, success } from './seller.ts'
import { type RunningProcess, startProcess } from './system.ts'

/** Issue 3, "It shows" 4: kill -9 of the service and its PostgreSQL in the midst of notices that are sent until acknowledged. */

const ORDERS = 250
const TICKETS = 4
const NOTICES = ORDERS * TICKETS
const KILLS = 3
const WORKERS = 16

let folder: string
let running: RunningProcess
let seller: Seller

const start = () => startProcess({ DATA_DIR: folder, DEMO: 'off', JOBS: 'off' })

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gatehouse-notices-'))
  chmodSync(folder, 0o755)
  running = await start()
  seller = await makeSeller(new Client(httpWire(running.origin), running.origin))
})
afterAll(async () => {
  await running?.stop()
  rmSync(folder, { recursive: true, force: true })
})

/** The database of the running service. */
async function withDatabase<Result>(work: (pool: pg.Pool) => Promise<Result>): Promise<Result> {
  const pool = new pg.Pool({ connectionString: await runningDatabaseUrl(folder), max: 2 })
  return work(pool).finally(() => pool.end())
}

const orderOf = (index: number): bigint => 8985652356590000001n + BigInt(index)

const timesKept = (pool: pg.Pool): Promise<Map<string, number>> =>
  pool
    .query('select body, count(*)::int as times from notice group by body')
    .then(({ rows }) => new Map(rows.map(({ body, times }) => [body, times])))

it('every acknowledged notice is in the database, exactly once', async () => {
  await withDatabase(async (pool) => {
    for (let index = 0; index < ORDERS; index++) {
      await seedOrder(pool, { orderId: orderOf(index), partnerId: Number(seller.partnerId), quantity: TICKETS })
    }
  })
  const notices = Array.from({ length: NOTICES }, (_, index) =>
    consumption({ orderId: orderOf(index % ORDERS), quantity: TICKETS, used: 1 + Math.floor(index / ORDERS) }),
  )
  const acknowledged: string[] = []
  let tries = 0
  const untilAcknowledged = async (body: string): Promise<void> => {
    for (;;) {
      tries++
      const answer = await send(running.origin, seller, { body }).catch(() => undefined)
      if (answer?.text === success(seller)) break
      expect([undefined, 503], answer?.text).toContain(answer?.status)
      await sleep(20)
    }
    acknowledged.push(body)
  }
  const waiting = notices.toReversed()
  const sendAll = async () => {
    for (let body = waiting.pop(); body; body = waiting.pop()) await untilAcknowledged(body)
  }
  const workers = Array.from({ length: WORKERS }, sendAll)
  const cutOff: number[] = []
  for (let kill = 1; kill <= KILLS; kill++) {
    while (acknowledged.length < (NOTICES * kill) / (KILLS + 1)) await sleep(5)
    await running.kill()
    const before = [...acknowledged]
    running = await start()
    const kept = await withDatabase(timesKept)
    expect(before.filter((body) => kept.get(body) !== 1)).toEqual([])
    cutOff.push(before.length)
  }
  await Promise.all(workers)

  await withDatabase(async (pool) => {
    expect(acknowledged).toHaveLength(NOTICES)
    expect(await timesKept(pool)).toEqual(new Map(notices.map((body) => [body, 1])))
    for (let index = 0; index < ORDERS; index++) {
      expect(await recordOf(pool, orderOf(index))).toMatchObject({ state: 'consumed', used: TICKETS })
      const steps = (await historyOf(pool, orderOf(index))).flatMap(
        (line) => /used_quantity (\d→\d)/.exec(line)?.[1] ?? [],
      )
      const ends = steps.map((step) => step.split('→'))
      for (const [place, [before]] of ends.entries()) expect(before).toBe(ends[place - 1]?.[1] ?? '0')
    }
  })
  process.stdout.write(
    `kill -9 of service and PostgreSQL after ${cutOff.join(', ')} of ${NOTICES} notices: every acknowledged one there once; ${tries} tries in all\n`,
  )
})
