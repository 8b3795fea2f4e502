import { createHash, randomUUID } from 'node:crypto'
import pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openPool } from '../../src/platform/db/pool.ts'
import { type Db, dbOf } from '../../src/platform/db/sql.ts'
import { formatHttpDate } from '../../src/platform/lib/crypto/signing.ts'
import { acceptConsumption } from '../../src/ticketing/mtp/consumption.ts'
import { createPartner } from '../../src/ticketing/partners/partner.ts'
import { newPartner } from '../../src/ticketing/partners/wire.ts'
import { CONSUME, consumption, failure, type Seller, success } from '../acceptance/seller.ts'
import { MANY_CONNECTIONS, openWorld, type World } from '../harness.ts'
import { historyOf, recordOf, seedOrder } from '../orders/orders.ts'
import { signedHeaders } from '../signer.ts'

/** Notices handled in one transaction: valid, repeated, refused, foreign and duplicate ones each get their own answer. */

const SELLER = { partnerId: '7001', clientId: 'seller', clientSecret: 'a clientSecret of these tests' }
const OTHER = { partnerId: '7002', clientId: 'other', clientSecret: 'another clientSecret of these tests' }
/** To be run outside of transactions: inside one, PostgreSQL keeps showing its first snapshot of the activity. */
const WAITING = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
const LATER = 'the platform cannot respond now; try again later'

let world: World
let admin: pg.Client

beforeAll(async () => {
  world = await openWorld(MANY_CONNECTIONS)
  for (const { partnerId, clientId, clientSecret } of [SELLER, OTHER]) {
    const input = newPartner.parse({ partner_id: partnerId, client_id: clientId, name: 'Seller', stage: 'live' })
    await createPartner(world.deps, input, clientSecret)
  }
  admin = new pg.Client({ connectionString: world.databaseUrl })
  await admin.connect()
})
afterAll(async () => {
  await admin?.end()
  await world?.close()
})
beforeEach(() => admin.query('truncate notice'))

let last = 8985652356562370000n
const order = async (fields: Omit<Parameters<typeof seedOrder>[1], 'orderId'> = {}): Promise<bigint> => {
  last += 1n
  await seedOrder(world.pool, { orderId: last, quantity: 3, ...fields })
  return last
}
const orders = (count: number): Promise<bigint[]> =>
  Array.from({ length: count }).reduce<Promise<bigint[]>>(
    async (made) => [...(await made), await order()],
    Promise.resolve([]),
  )

async function post(body: string, seller: Seller = SELLER): Promise<{ status: number; text: string }> {
  const date = formatHttpDate(world.clock.now())
  const headers = { ...signedHeaders(seller, { path: CONSUME, date }) }
  const answer = await world.app.inject({ method: 'POST', url: CONSUME, headers, payload: body })
  return { status: answer.statusCode, text: answer.body }
}
const used = (orderId: bigint, count = 1, more = ''): string => consumption({ orderId, used: count, more })
const voucher = (name: string): string =>
  `,"voucherList":[{"voucher":"${name}","voucherInvalidTime":"2026-12-31 23:59:59","quantity":1,"status":1}]`

const usedOf = async (orderId: bigint): Promise<number> => (await recordOf(world.pool, orderId)).used
const kept = async (part: bigint): Promise<number> =>
  (await world.pool.query('select count(*)::int as n from notice where body like $1', [`%${part}%`])).rows[0].n
/** The largest number of stored notices that one transaction wrote. */
const largestTransaction = async (): Promise<number> =>
  (await admin.query('select max(n)::int as n from (select count(*) as n from notice group by xmin::text) t')).rows[0].n

describe('notices that share a transaction', () => {
  it('are each decided independently', async () => {
    const [repeated, one, two, refused, foreign, shared, twice] = (await orders(7)) as [bigint, ...bigint[]] as [
      bigint,
      bigint,
      bigint,
      bigint,
      bigint,
      bigint,
      bigint,
    ]
    const withVoucher = await order({ vouchers: ['A', 'B', 'C'] })
    const strange = await order({ vouchers: ['A'] })
    const closed = await order({ state: 'closed' })
    const missing = last + 1_000n
    expect((await post(used(repeated, 3))).text).toBe(success(SELLER))
    await admin.query('update ticket_order set used_quantity = 0, refunded_quantity = 3 where order_id = $1', [
      String(repeated),
    ])
    const before = await historyOf(world.pool, repeated)

    const answers = await Promise.all([
      post(used(one)),
      post(used(repeated, 3)),
      post(used(refused, 2, ',"x":1').replace('"quantity":3', '"quantity":4')),
      post(used(foreign), OTHER),
      post(used(withVoucher, 1, voucher('B'))),
      post(used(strange, 1, voucher('stranger'))),
      post(used(shared, 2)),
      post(used(shared, 1)),
      post(used(closed, 3)),
      post(used(missing)),
      post(used(twice)),
      post(used(twice)),
      post(used(twice)),
      post(consumption({ orderId: refused, used: 2, refunded: 2 })),
      post(used(two, 3)),
      post(used(one), { ...SELLER, clientSecret: 'a wrong one' }),
    ])
    const ok = success(SELLER)
    const no = (describe: string) => failure(SELLER, describe)
    expect(answers.map(({ text }) => text)).toEqual([
      ok,
      ok, // though by now it would be refused
      no(`quantity is 4; order ${refused} has 3`),
      failure(OTHER, `order ${foreign} does not exist`),
      ok,
      no(`voucher stranger is not of order ${strange}`),
      ok,
      ok,
      no(`order ${closed} is closed (ended before it was paid); it cannot become consumed`),
      no(`order ${missing} does not exist`),
      ok,
      ok,
      ok,
      no('usedQuantity and refundedQuantity together must not exceed quantity'),
      ok,
      no('BA verification failed'),
    ])
    expect(answers.every(({ status }) => status === 200)).toBe(true)

    expect(await Promise.all([one, two, shared, twice, foreign, refused, closed].map(usedOf))).toEqual([
      1, 3, 2, 1, 0, 0, 0,
    ])
    expect(await recordOf(world.pool, withVoucher)).toMatchObject({ used: 1, vouchers: { A: 'unused', B: 'used' } })
    expect(await historyOf(world.pool, repeated)).toEqual(before)
    expect(await historyOf(world.pool, twice)).toHaveLength(1)
    expect(await historyOf(world.pool, two)).toEqual([
      expect.stringMatching(`^order ${two}: state paid→consumed, used_quantity 0→3 `),
    ])
    expect(await Promise.all([one, two, shared, twice, foreign, refused, closed, missing].map(kept))).toEqual([
      1, 1, 2, 1, 0, 0, 0, 0,
    ])
    expect(await largestTransaction(), 'they did share a transaction').toBeGreaterThanOrEqual(4)
  })

  it('are named in the history as the cause of their own changes', async () => {
    const ids = await orders(5)
    await Promise.all(ids.map((id) => post(used(id))))
    const { rows } = await admin.query(
      `select c.order_id, n.body from record_change c join notice n on n.notice_id::text = c.cause_id
       where c.order_id = any ($1::bigint[]) order by c.order_id`,
      [ids.map(String)],
    )
    expect(rows).toEqual(ids.map((id) => ({ order_id: String(id), body: used(id) })))
  })

  it('do not wait for a notice whose order is locked', async () => {
    const [held, ...free] = (await orders(5)) as [bigint, ...bigint[]]
    await admin.query(`begin; select from ticket_order where order_id = ${held} for update`)
    const waiting = post(used(held, 2))
    let answered = false
    void waiting.then(() => {
      answered = true
    })
    expect((await Promise.all(free.map((id) => post(used(id))))).map(({ text }) => text)).toEqual(
      free.map(() => success(SELLER)),
    )
    expect(answered).toBe(false)
    await admin.query(`update ticket_order set used_quantity = 3 where order_id = ${held}; commit`)
    expect((await waiting).text).toBe(success(SELLER))
    expect(await usedOf(held), 'it was decided after the holder was done').toBe(3)
  })

  it('are forgotten after a day, and have no second effect even then', async () => {
    const [one, two] = (await orders(2)) as [bigint, bigint]
    await Promise.all([post(used(one)), post(used(two))])
    world.clock.advance(86_401)
    const ids = async () => (await admin.query('select notice_id from notice order by 1')).rows
    const before = await ids()
    const again = await Promise.all([post(used(one)), post(used(two))])
    expect(again.map(({ text }) => text)).toEqual([success(SELLER), success(SELLER)])
    expect(await kept(one)).toBe(1)
    expect(await ids(), 'claimed anew').not.toEqual(before)
    expect(await historyOf(world.pool, one)).toHaveLength(1)
  })
})

describe('two processes that get the same notices at once', () => {
  const pools: pg.Pool[] = []
  const process = (): Db => {
    const pool = openPool({ connectionString: world.databaseUrl, size: 5 }, world.log)
    pools.push(pool)
    return dbOf(pool)
  }
  afterAll(() => Promise.all(pools.map((pool) => pool.end())))

  const take = async (db: Db, orderId: bigint): Promise<string> => {
    const bodyHash = createHash('sha256').update(String(orderId)).digest()
    const row = { noticeId: randomUUID(), clientId: 'seller', path: CONSUME, bodyHash, partnerId: 7001n }
    const rest = { receivedAt: world.clock.now(), body: `notice ${orderId}`, answer: randomUUID(), warnings: [] }
    const report = { orderId, partnerOrderId: 'P-1', quantity: 3, usedQuantity: 1, refundedQuantity: 0 }
    return (await acceptConsumption(db, { ...row, ...rest }, report, 'live')).answer
  }

  it('apply each notice once, give it one answer, and do not block each other', async () => {
    const [left, right] = [process(), process()]
    const ids = await orders(40)
    const began = performance.now()
    const [here, there] = await Promise.all([
      Promise.all(ids.map((id) => take(left, id))),
      Promise.all(ids.toReversed().map((id) => take(right, id))),
    ])
    expect(here, 'whoever comes second gets the first answer').toEqual(there.toReversed())
    expect(new Set(here).size).toBe(40)
    expect(performance.now() - began, 'no deadlock had to be found').toBeLessThan(10_000)
    for (const id of ids) expect(await historyOf(world.pool, id)).toHaveLength(1)
  })

  it('do not delay other notices behind a repeat whose original waits for a lock in the other process', async () => {
    const [left, right] = [process(), process()]
    const [held, ...free] = (await orders(5)) as [bigint, ...bigint[]]
    await admin.query(`begin; select from ticket_order where order_id = ${held} for update`)
    try {
      const first = take(left, held)
      await expect.poll(async () => (await world.pool.query(WAITING)).rowCount).toBe(1)
      const repeat = take(right, held)
      expect(await Promise.all(free.map((id) => take(right, id)))).toHaveLength(4)
      await admin.query('commit')
      expect(await repeat).toBe(await first)
    } finally {
      await admin.query('rollback')
    }
    expect(await historyOf(world.pool, held)).toHaveLength(1)
  })
})

describe('a statement that fails', () => {
  it('fails only the notice that caused it', async () => {
    const ids = await orders(7)
    const poison = ids[3] as bigint
    await admin.query(`alter table record_change add constraint poison check (order_id <> ${poison}) not valid`)
    const answers = await Promise.all(ids.map((id) => post(used(id))))
    await admin.query('alter table record_change drop constraint poison')
    expect(answers).toEqual(
      ids.map((id) =>
        id === poison ? { status: 500, text: failure(SELLER, LATER) } : { status: 200, text: success(SELLER) },
      ),
    )
    expect(await Promise.all(ids.map(usedOf))).toEqual([1, 1, 1, 0, 1, 1, 1])
    expect(await kept(poison)).toBe(0)
    expect((await post(used(poison))).text).toBe(success(SELLER))
    for (const id of ids) expect(await historyOf(world.pool, id)).toHaveLength(1)
  })
})

describe('losing the database while notices share a transaction', () => {
  it('never reports success for a notice that was not committed', async () => {
    const ids = await orders(4)
    await admin.query('begin; lock table record_change in exclusive mode')
    const answers = Promise.all(ids.map((id) => post(used(id))))
    const terminate = WAITING.replace('select', 'select pg_terminate_backend(pid)')
    await expect.poll(async () => (await world.pool.query(terminate)).rowCount).toBe(1)
    for (const answer of await answers) expect(answer).toEqual({ status: 503, text: failure(SELLER, LATER) })
    await admin.query('rollback')

    expect(await Promise.all(ids.map(usedOf))).toEqual([0, 0, 0, 0])
    expect((await admin.query('select from notice')).rowCount).toBe(0)
    const again = await Promise.all(ids.map((id) => post(used(id))))
    expect(again.map(({ text }) => text)).toEqual(ids.map(() => success(SELLER)))
    expect(await Promise.all(ids.map(usedOf))).toEqual([1, 1, 1, 1])
  })
})
