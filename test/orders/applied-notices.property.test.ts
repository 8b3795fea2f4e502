import { randomInt } from 'node:crypto'
import fc from 'fast-check'
import type { Pool } from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openPool } from '../../src/platform/db/pool.ts'
import { dbOf } from '../../src/platform/db/sql.ts'
import type { Deps } from '../../src/platform/deps.ts'
import { applyRefundResult } from '../../src/ticketing/orders/change-refund.ts'
import { openWorld, type World } from '../harness.ts'
import { recordOf, seedOrder, seedPartner, seedRefund } from './orders.ts'
import { reportConsumption } from './report-consumption.ts'

/**
 * A partner's truth about random orders, told in notices that are doubled, shuffled and sent in parallel over two
 * pools, as two processes would. Whatever the order of arrival, the platform ends with the truth.
 */

let world: World
let pools: Pool[]
let processes: Deps[]
beforeAll(async () => {
  world = await openWorld()
  await seedPartner(world.pool)
  await seedPartner(world.pool, 7002)
  pools = [1, 2].map(() => openPool({ connectionString: world.databaseUrl, size: 10 }, world.log))
  processes = pools.map((pool) => ({ ...world.deps, db: dbOf(pool) }))
})
afterAll(async () => {
  for (const pool of pools) await pool.end()
  await world.close()
})

type Fate = 'unused' | 'used' | 'refunded by us' | 'refused to us' | 'refunded by them' | 'void'
/** One ticket and what becomes of it; tickets of ours that are refunded or refused are one refund each. */
const fate = fc.constantFrom<Fate>(
  'unused',
  'used',
  'used',
  'refunded by us',
  'refused to us',
  'refunded by them',
  'void',
)
const truth = fc.record({
  fates: fc.array(fate, { minLength: 1, maxLength: 6 }),
  /** Which tickets' fates are told one by one, in which order. */
  turns: fc.array(fc.nat(), { minLength: 6, maxLength: 6 }),
  startsAs: fc.constantFrom('paid', 'paying', 'pay_unknown'),
})
type Truth = typeof truth extends fc.Arbitrary<infer T> ? T : never

const VOUCHER_STATUS = {
  unused: 0,
  used: 1,
  'refunded by us': 2,
  'refused to us': 0,
  'refunded by them': 2,
  void: 3,
} as const
const VOUCHER_STATE = ['unused', 'used', 'refunded', 'void'] as const
const DECISIONS = { 'refunded by us': 200, 'refused to us': 606 } as const
const isOurs = (one: Fate): one is keyof typeof DECISIONS => one in DECISIONS
const count = (fates: readonly Fate[], ...kinds: Fate[]): number => fates.filter((one) => kinds.includes(one)).length

type Notice = (deps: Deps) => Promise<void>
const NOTICE = { kind: 'notice', id: 'n' } as const

/** The notices of one order, in the order in which an honest partner sends them, and how it all ends. */
function story({ fates, turns }: Truth, orderId: bigint) {
  const told: Fate[] = fates.map(() => 'unused')
  const voucher = (place: number) => `v${place}`
  const refundId = (place: number) => `r-${orderId}-${place}`
  const notices: Notice[] = []
  const order = fates.map((_, place) => place).sort((a, b) => (turns[a] ?? 0) - (turns[b] ?? 0))
  for (const place of order) {
    const kind = fates[place] ?? 'unused'
    told[place] = kind
    const report = {
      orderId,
      partnerOrderId: 'P-1',
      quantity: fates.length,
      usedQuantity: count(told, 'used'),
      refundedQuantity: count(told, 'refunded by us', 'refunded by them'),
      vouchers: told.map((one, at) => ({ voucher: voucher(at), quantity: 1, status: VOUCHER_STATUS[one] })),
    }
    notices.push((deps) => reportConsumption(deps, 7001n, report))
    if (!isOurs(kind)) continue
    const result = { refundId: refundId(place), orderId, partnerOrderId: 'P-1', code: DECISIONS[kind], describe: 'd' }
    notices.push((deps) => applyRefundResult(deps, 7001n, result, NOTICE))
  }
  const used = count(fates, 'used')
  const refunded = count(fates, 'refunded by us', 'refunded by them')
  const isOver = used + refunded === fates.length
  const end = {
    used,
    refunded,
    vouchers: Object.fromEntries(fates.map((one, at) => [voucher(at), VOUCHER_STATE[VOUCHER_STATUS[one]]])),
    refunds: Object.fromEntries(
      fates.flatMap((one, at) =>
        isOurs(one) ? [[refundId(at), one === 'refunded by us' ? 'refunded' : 'refused']] : [],
      ),
    ),
    state: isOver ? (used > 0 ? 'consumed' : 'refunded') : used + refunded > 0 ? 'paid' : undefined,
  }
  return { notices, end }
}

/** What must be refused whenever it comes, and change nothing. */
const wrong = (orderId: bigint, quantity: number): Notice[] => {
  const report = { orderId, partnerOrderId: 'P-1', quantity, usedQuantity: quantity, refundedQuantity: 0 }
  return [
    (deps) => reportConsumption(deps, 7001n, { ...report, refundedQuantity: 1 }),
    (deps) => reportConsumption(deps, 7001n, { ...report, quantity: quantity + 1 }),
    (deps) => reportConsumption(deps, 7002n, report),
    (deps) =>
      applyRefundResult(
        deps,
        7001n,
        { orderId, refundId: 'none', partnerOrderId: '', code: 200, describe: '' },
        NOTICE,
      ),
  ]
}

async function seed({ fates, startsAs }: Truth): Promise<bigint> {
  const orderId = 2n ** 62n + BigInt(randomInt(2 ** 40))
  const vouchers = startsAs === 'paid' ? fates.map((_, place) => `v${place}`) : []
  await seedOrder(world.pool, { orderId, state: startsAs, quantity: fates.length, vouchers })
  for (const [place, one] of fates.entries()) {
    if (isOurs(one))
      await seedRefund(world.pool, { refundId: `r-${orderId}-${place}`, orderId, vouchers: [`v${place}`] })
  }
  return orderId
}

/** Each step of a record begins where the one before has ended: no effect was lost or came twice. */
async function checkHistory(orderId: bigint): Promise<void> {
  const statement = 'select record, record_id, change from record_change where order_id = $1 order by change_id'
  const now: Record<string, unknown> = {}
  for (const { record, record_id, change } of (await world.pool.query(statement, [String(orderId)])).rows) {
    for (const [field, [before, after]] of Object.entries<[unknown, unknown]>(change)) {
      const name = `${record} ${record_id} ${field}`
      if (name in now) expect(before, name).toEqual(now[name])
      now[name] = after
    }
  }
}

it('ends with the truth, however its notices come in', async () => {
  const figures = { orders: 0, notices: 0, refusals: 0 }
  const started = performance.now()
  const plan = fc.record({
    truths: fc.array(truth, { minLength: 2, maxLength: 4 }),
    copies: fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 8, maxLength: 8 }),
    shuffle: fc.infiniteStream(fc.nat()),
  })
  await fc.assert(
    fc.asyncProperty(plan, async ({ truths, copies, shuffle }) => {
      const orders = []
      for (const one of truths) {
        const orderId = await seed(one)
        orders.push({ orderId, startsAs: one.startsAs, quantity: one.fates.length, ...story(one, orderId) })
      }
      const right = orders.flatMap(({ notices }) =>
        notices.flatMap((notice, n) =>
          Array.from({ length: copies[n % copies.length] ?? 1 }, () => ({ notice, refused: false })),
        ),
      )
      const refused = orders.flatMap(({ orderId, quantity }) =>
        wrong(orderId, quantity).map((notice) => ({ notice, refused: true })),
      )
      const all = [...right, ...refused].map((sent) => ({ ...sent, at: shuffle.next().value as number }))
      await Promise.all(
        all
          .sort((one, other) => one.at - other.at)
          .map(async ({ notice, refused: isWrong }, n) => {
            const outcome = await notice(processes[n % 2] as Deps).catch((error: unknown) => error)
            if (isWrong) expect(outcome).toMatchObject({ describe: expect.anything() })
            else expect(outcome).toBeUndefined()
          }),
      )
      for (const { orderId, startsAs, end } of orders) {
        expect(await recordOf(world.pool, orderId)).toEqual({ ...end, state: end.state ?? startsAs })
        await checkHistory(orderId)
      }
      figures.orders += orders.length
      figures.notices += right.length
      figures.refusals += refused.length
    }),
    { numRuns: 80, endOnFailure: true },
  )
  const seconds = ((performance.now() - started) / 1000).toFixed(1)
  process.stdout.write(
    `random notices: ${figures.orders} orders, ${figures.notices} notices (doubled, shuffled, parallel over 2 pools), ` +
      `${figures.refusals} that must be refused; every final state and history as modelled, ${seconds} s\n`,
  )
})
