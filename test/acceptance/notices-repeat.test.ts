import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { untilLocked } from '../locks.ts'
import { duePulls, historyOf, recordOf, seedOrder, seedRefund, waitingJobs } from '../orders/orders.ts'
import { Client } from './client.ts'
import { type Answer, header, httpWire } from './http.ts'
import {
  CONSUME,
  consumption,
  DEAL_CHANGE,
  decision,
  failure,
  makeSeller,
  REFUND,
  type Seller,
  type Sending,
  send,
  success,
} from './seller.ts'
import { type System, startSystem } from './system.ts'

/** Repeated notices: concurrently, while the first is in flight, and later, over two processes on one database. */

const AT_ONCE = 200

let system: System
let pool: pg.Pool
let seller: Seller

beforeAll(async () => {
  system = await startSystem({ JOBS: 'off', DEMO: 'off' }, { JOBS: 'off', DEMO: 'off' })
  pool = new pg.Pool({ connectionString: system.databaseUrl, max: 3 })
  seller = await makeSeller(new Client(httpWire(system.origin), system.origin))
})
afterAll(async () => {
  await pool?.end()
  await system?.stop()
})

let orderId = 8985652356562380000n
beforeEach(async () => {
  orderId += 1n
  const partnerId = Number(seller.partnerId)
  await seedOrder(pool, { orderId, partnerId, quantity: 3, vouchers: ['A', 'B', 'C'] })
  await seedRefund(pool, { refundId: `R${orderId}`, orderId, partnerId, vouchers: ['C'] })
})

const originOf = (index: number): string => system.processes[index % 2]?.origin ?? ''
const post = async (sending: Sending, index = 0): Promise<string> => (await send(originOf(index), seller, sending)).text

const count = async (text: string, ...values: unknown[]): Promise<number> =>
  (await pool.query(`select count(*)::int as n from ${text}`, values)).rows[0].n
const noticesLike = (part: string) => count('notice where body like $1', `%${part}%`)

const voucherUsed = (voucher: string) =>
  `,"voucherList":[{"voucher":"${voucher}","voucherInvalidTime":"2026-12-31 23:59:59","quantity":1,"status":1}]`

describe(`one notice ${AT_ONCE} times at once over two processes`, () => {
  const times = async (sending: Sending): Promise<Set<string>> =>
    new Set(await Promise.all(Array.from({ length: AT_ONCE }, (_, index) => post(sending, index))))

  it('consumption: one effect, one answer', async () => {
    const startedAt = performance.now()
    const body = consumption({ orderId, used: 1, more: voucherUsed('A') })
    expect(await times({ body })).toEqual(new Set([success(seller)]))
    expect(await recordOf(pool, orderId)).toMatchObject({ used: 1, vouchers: { A: 'used', B: 'unused' } })
    expect(await historyOf(pool, orderId)).toHaveLength(2)
    expect(await noticesLike(String(orderId))).toBe(1)
    process.stdout.write(
      `one notice × ${AT_ONCE} over two processes: ${Math.round(performance.now() - startedAt)} ms\n`,
    )
  })

  it('refund: one effect, one answer', async () => {
    const body = decision(orderId, `R${orderId}`, 200)
    expect(await times({ path: REFUND, body })).toEqual(new Set([success(seller)]))
    expect(await recordOf(pool, orderId)).toMatchObject({ refunded: 1, vouchers: { C: 'refunded' } })
    expect(await historyOf(pool, orderId)).toHaveLength(3)
  })

  it('product change: one product, one job', async () => {
    const body = `{"body":[{"partnerDealId":"D${orderId}","status":5}]}`
    expect(await times({ path: DEAL_CHANGE, body })).toEqual(new Set([success(seller)]))
    expect(await duePulls(pool)).toContain(`prices ${seller.partnerId}:D${orderId}`)
    expect((await waitingJobs(pool)).filter((job) => job === `pull-due pull-due:${seller.partnerId}`)).toHaveLength(1)
    expect(await count('product where partner_deal_id = $1', `D${orderId}`)).toBe(1)
  })

  it('contrary refund decisions: one wins, the contrary ones are refused', async () => {
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, index) =>
        post({ path: REFUND, body: decision(orderId, `R${orderId}`, index % 4 < 2 ? 200 : 699) }, index),
      ),
    )
    const { refunds, refunded } = await recordOf(pool, orderId)
    const state = refunds[`R${orderId}`]
    const contrary = state === 'refunded' ? 'refused' : 'refunded'
    const told = failure(seller, `refund R${orderId} is already ${state}; it cannot become ${contrary}`)
    expect(new Set(answers)).toEqual(new Set([success(seller), told]))
    expect(answers.filter((answer) => answer === told)).toHaveLength(20)
    expect(refunded).toBe(state === 'refunded' ? 1 : 0)
  })

  it('refused consumption: every sender gets the refusal', async () => {
    const answers = await times({ body: consumption({ orderId: orderId + 5_000n }) })
    expect(answers).toEqual(new Set([failure(seller, `order ${orderId + 5_000n} does not exist`)]))
    expect(await noticesLike(String(orderId + 5_000n))).toBe(0)
  })
})

/** The changes of the order's used quantity. */
const movesOf = async (id: bigint): Promise<string[]> =>
  (await historyOf(pool, id)).filter((line) => line.includes('used_quantity'))

describe('a notice in flight', () => {
  /** Locks the order's row, so that the first notice about it cannot complete. */
  async function whileHeld(work: () => Promise<void>): Promise<void> {
    const holder = await pool.connect()
    await holder.query('begin')
    await holder.query('select 1 from ticket_order where order_id = $1 for update', [String(orderId)])
    try {
      await work()
    } finally {
      await holder.query('rollback')
      holder.release()
    }
  }

  it('is waited for by the same notice, at either process', async () => {
    const body = consumption({ orderId, used: 2 })
    const answers: Promise<string>[] = []
    let answered = 0
    await whileHeld(async () => {
      for (let index = 0; index < 6; index++) {
        answers.push(post({ body }, index).finally(() => answered++))
        await sleep(50)
      }
      await untilLocked(pool)
      await sleep(300)
      expect(answered, 'nobody was answered before there was an effect').toBe(0)
      expect(await noticesLike(String(orderId))).toBe(0)
    })
    expect(new Set(await Promise.all(answers))).toEqual(new Set([success(seller)]))
    expect(await movesOf(orderId)).toHaveLength(1)
  })

  it('that takes long and is sent repeatedly does not hold up other notices', async () => {
    const body = consumption({ orderId, used: 2 })
    const answers: Promise<Answer>[] = []
    const other = orderId + 7_000n
    await seedOrder(pool, { orderId: other, partnerId: Number(seller.partnerId), quantity: 3 })
    await whileHeld(async () => {
      const heldAt = performance.now()
      for (let sent = 0; sent < 30; sent++) answers.push(send(originOf(0), seller, { body }))
      await sleep(200)
      expect(await post({ body: consumption({ orderId: other }) })).toBe(success(seller)) // while the notices above are held
      // Long enough to hold up other notices, shorter than lock_timeout (3 s).
      await sleep(Math.max(0, 2_400 - (performance.now() - heldAt)))
    })
    for (const { status, text } of await Promise.all(answers)) expect([status, text]).toEqual([200, success(seller)])
    expect(await movesOf(orderId)).toHaveLength(1)
  })

  const first = (end: 'pg_cancel_backend' | 'pg_terminate_backend') =>
    pool.query(
      `select ${end}(pid) from (
         select pid from pg_stat_activity
         where query like '%from ticket_order%for update%' and wait_event_type = 'Lock' and datname = current_database()
         order by query_start limit 1
       ) first`,
    )

  it('that fails lets the next one take effect', async () => {
    const body = consumption({ orderId, used: 2 })
    let cutOff: Promise<Answer> | undefined
    let second: Promise<string> | undefined
    await whileHeld(async () => {
      cutOff = send(originOf(0), seller, { body })
      await untilLocked(pool)
      second = post({ body }, 1)
      await sleep(200)
      await first('pg_cancel_backend')
      await sleep(100)
    })
    const answer = (await cutOff) as Answer
    expect(answer.text).toBe(failure(seller, 'the platform cannot respond now; try again later'))
    expect([answer.status, header(answer, 'retry-after')]).toEqual([503, '2'])
    expect(await second).toBe(success(seller))
    expect(await movesOf(orderId)).toHaveLength(1)
    expect(await post({ body })).toBe(success(seller))
    expect(await movesOf(orderId)).toHaveLength(1)
  })

  it('that loses its database connection before the commit takes effect once, on another connection', async () => {
    const body = consumption({ orderId, used: 2 })
    let answered: Promise<string> | undefined
    await whileHeld(async () => {
      answered = post({ body })
      await untilLocked(pool)
      await first('pg_terminate_backend')
      await sleep(100)
    })
    expect(await answered).toBe(success(seller))
    expect(await movesOf(orderId)).toHaveLength(1)
  })
})

describe('a notice that is sent again later', () => {
  const agePast = (seconds: number) =>
    pool.query(`update notice set received_at = received_at - make_interval(secs => $1)`, [seconds])

  it('counts as new after a minute for a product change: the pull is queued again', async () => {
    const body = `{"body":[{"partnerDealId":"again","status":1}]}`
    const pull = `product ${seller.partnerId}:again`
    const pulled = async () => {
      const found = (await duePulls(pool)).includes(pull)
      await pool.query("delete from pull_due where partner_deal_id = 'again'")
      return found
    }
    expect(await post({ path: DEAL_CHANGE, body })).toBe(success(seller))
    expect(await pulled()).toBe(true)
    expect(await post({ path: DEAL_CHANGE, body }, 1)).toBe(success(seller))
    expect(await pulled(), 'a retry pulls nothing').toBe(false)
    await agePast(61)
    expect(await post({ path: DEAL_CHANGE, body }, 1)).toBe(success(seller))
    expect(await pulled(), 'news is pulled').toBe(true)
    expect(await post({ path: DEAL_CHANGE, body })).toBe(success(seller))
    expect(await pulled(), 'and its retry not').toBe(false)
  })

  it('has no second effect on an order, even after a day', async () => {
    const [used, decided] = [consumption({ orderId, used: 1 }), decision(orderId, `R${orderId}`, 200)]
    const both = async () => {
      expect(await post({ body: used })).toBe(success(seller))
      expect(await post({ path: REFUND, body: decided })).toBe(success(seller))
    }
    await both()
    const [record, history] = [await recordOf(pool, orderId), await historyOf(pool, orderId)]
    await agePast(86_401)
    await both()
    expect([await recordOf(pool, orderId), await historyOf(pool, orderId)]).toEqual([record, history])
  })

  it('has no second effect under another path prefix', async () => {
    const body = consumption({ orderId, used: 1 })
    expect(await post({ body })).toBe(success(seller))
    expect(await post({ path: `/rhone${CONSUME}`, body })).toBe(success(seller))
    expect(await movesOf(orderId)).toHaveLength(1)
  })
})

it('different notices of the same second, with the same signature, all take effect', async () => {
  const date = new Date().toUTCString()
  const entries = [0, 1, 2, 5].map((status) => `{"body":[{"partnerDealId":"D${orderId}","status":${status}}]}`)
  const answers = await Promise.all([
    ...entries.map((body, index) => post({ path: DEAL_CHANGE, body, date }, index)),
    ...[1, 2].map((used) => post({ body: consumption({ orderId, used }), date }, used)),
    post({ path: REFUND, body: decision(orderId, `R${orderId}`, 200), date }),
  ])
  expect(new Set(answers)).toEqual(new Set([success(seller)]))
  expect(await noticesLike(`D${orderId}`)).toBe(4)
  expect(await recordOf(pool, orderId)).toMatchObject({ state: 'consumed', used: 2, refunded: 1 })
  const pulls = (await duePulls(pool)).filter((pull) => pull.endsWith(`:D${orderId}`))
  const key = `${seller.partnerId}:D${orderId}`
  expect(pulls).toEqual([`prices ${key}`, `product ${key}`])
})

it('product changes that overlap do not block each other', async () => {
  const random = (below: number) => Math.floor(Math.random() * below)
  const startedAt = performance.now()
  const answers = await Promise.all(
    Array.from({ length: 60 }, (_, index) => {
      const entries = Array.from({ length: 1 + random(12) }, () => {
        return `{"partnerDealId":"shared-${random(15)}","status":${[0, 1, 2, 5][random(4)]}}`
      })
      return post({ path: DEAL_CHANGE, body: `{"serial":${index},"body":[${entries.join(',')}]}` }, index)
    }),
  )
  expect(new Set(answers)).toEqual(new Set([success(seller)]))
  process.stdout.write(`60 overlapping product changes at once: ${Math.round(performance.now() - startedAt)} ms\n`)
})

it('one notice can carry a catalogue of 1,000 products', async () => {
  const entries = Array.from({ length: 1_000 }, (_, index) => `{"partnerDealId":"c-${index}","status":1}`)
  const startedAt = performance.now()
  expect(await post({ path: DEAL_CHANGE, body: `{"body":[${entries.join(',')}]}` })).toBe(success(seller))
  process.stdout.write(`1,000 products in one notice: ${Math.round(performance.now() - startedAt)} ms\n`)
  expect(await count("product where partner_deal_id like 'c-%'")).toBe(1_000)
})

it('an internal error is 500 with the envelope, and the notice has no effect until it is sent again', async () => {
  const body = consumption({ orderId, used: 1 })
  await pool.query('alter table record_change rename to record_change_gone')
  const answer = await send(originOf(0), seller, { body })
  await pool.query('alter table record_change_gone rename to record_change')
  expect([answer.status, answer.text]).toEqual([
    500,
    failure(seller, 'the platform cannot respond now; try again later'),
  ])
  expect(await noticesLike(String(orderId))).toBe(0)
  expect(await recordOf(pool, orderId)).toMatchObject({ used: 0 })
  expect(await post({ body })).toBe(success(seller))
})
