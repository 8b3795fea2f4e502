import { randomInt } from 'node:crypto'
import fc from 'fast-check'
import type { Pool } from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openPool } from '../../src/platform/db/pool.ts'
import { dbOf } from '../../src/platform/db/sql.ts'
import type { Deps } from '../../src/platform/deps.ts'
import { applyRefundResult } from '../../src/ticketing/orders/change-refund.ts'
import { openWorld, PATIENT, type World } from '../harness.ts'
import { recordOf, seedOrder, seedPartner, seedRefund } from './orders.ts'
import { reportConsumption } from './report-consumption.ts'

/**
 * Random orders with a known outcome. The partner's notices about them are duplicated, shuffled and delivered in
 * parallel over two pools, as to two processes. In whatever sequence they arrive, each order must reach that outcome.
 */

let world: World
let pools: Pool[]
let processes: Deps[]
beforeAll(async () => {
  world = await openWorld()
  await seedPartner(world.pool)
  await seedPartner(world.pool, 7002)
  pools = [1, 2].map(() => openPool({ connectionString: world.databaseUrl, size: 10 }, world.log))
  processes = pools.map((pool) => ({ ...world.deps, db: dbOf(pool, PATIENT) }))
})
afterAll(async () => {
  for (const pool of pools) await pool.end()
  await world.close()
})

type Fate = 'unused' | 'used' | 'refunded by us' | 'refused to us' | 'refunded by them' | 'void'
/** What becomes of one ticket. Each refund that we requested is for one ticket. */
const fate = fc.constantFrom<Fate>(
  'unused',
  'used',
  'used',
  'refunded by us',
  'refused to us',
  'refunded by them',
  'void',
)
const scenario = fc.record({
  fates: fc.array(fate, { minLength: 1, maxLength: 6 }),
  /** Sort keys for the sequence in which the tickets' fates are reported. */
  turns: fc.array(fc.nat(), { minLength: 6, maxLength: 6 }),
  startsAs: fc.constantFrom('paid', 'paying', 'pay_unknown'),
})
type Scenario = typeof scenario extends fc.Arbitrary<infer T> ? T : never

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

/** The notices about one order, in the sequence in which a partner would send them, and the final record. */
function noticesAndEnd({ fates, turns }: Scenario, orderId: bigint) {
  const reported: Fate[] = fates.map(() => 'unused')
  const voucher = (place: number) => `v${place}`
  const refundId = (place: number) => `r-${orderId}-${place}`
  const notices: Notice[] = []
  const order = fates.map((_, place) => place).sort((a, b) => (turns[a] ?? 0) - (turns[b] ?? 0))
  for (const place of order) {
    const kind = fates[place] ?? 'unused'
    reported[place] = kind
    const report = {
      orderId,
      partnerOrderId: 'P-1',
      quantity: fates.length,
      usedQuantity: count(reported, 'used'),
      refundedQuantity: count(reported, 'refunded by us', 'refunded by them'),
      vouchers: reported.map((one, at) => ({ voucher: voucher(at), quantity: 1, status: VOUCHER_STATUS[one] })),
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

/** Notices that must always be refused and change nothing. */
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

async function seed({ fates, startsAs }: Scenario): Promise<bigint> {
  const orderId = 2n ** 62n + BigInt(randomInt(2 ** 40))
  const vouchers = startsAs === 'paid' ? fates.map((_, place) => `v${place}`) : []
  await seedOrder(world.pool, { orderId, state: startsAs, quantity: fates.length, vouchers })
  for (const [place, one] of fates.entries()) {
    if (isOurs(one))
      await seedRefund(world.pool, { refundId: `r-${orderId}-${place}`, orderId, vouchers: [`v${place}`] })
  }
  return orderId
}

/** Each change starts from the value at which the previous one ended: no effect was lost or applied twice. */
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

it('each order reaches its known outcome, however its notices arrive', async () => {
  const figures = { orders: 0, notices: 0, refusals: 0 }
  const started = performance.now()
  const plan = fc.record({
    scenarios: fc.array(scenario, { minLength: 2, maxLength: 4 }),
    copies: fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 8, maxLength: 8 }),
    shuffle: fc.infiniteStream(fc.nat()),
  })
  await fc.assert(
    fc.asyncProperty(plan, async ({ scenarios, copies, shuffle }) => {
      const orders = []
      for (const one of scenarios) {
        const orderId = await seed(one)
        orders.push({ orderId, startsAs: one.startsAs, quantity: one.fates.length, ...noticesAndEnd(one, orderId) })
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
