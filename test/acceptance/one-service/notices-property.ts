import fc from 'fast-check'
import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { historyOf, recordOf, seedOrder, seedRefund } from '../../orders/orders.ts'
import { Client } from '../client.ts'
import { httpWire } from '../http.ts'
import { CONSUME, consumption, decision, makeSeller, REFUND, type Seller, send, success } from '../seller.ts'
import { type System, sharedSystem } from '../system.ts'

/**
 * Notices of random orders are duplicated, shuffled and sent to two processes in parallel; the final state must equal
 * the model's. The model is the seller's own record, one event after the other.
 */

const RUNS = 40
const AT_ONCE = 24

let system: System
let pool: pg.Pool
let seller: Seller

beforeAll(async () => {
  system = await sharedSystem()
  pool = new pg.Pool({ connectionString: system.databaseUrl, max: 2 })
  seller = await makeSeller(new Client(httpWire(system.origin), system.origin))
})
afterAll(() => pool?.end())

/** What becomes of a ticket. A decision applies to all tickets of a refund. */
const FATES = ['unused', 'used', 'refunded', 'refunded too', 'refund refused', 'refund refused, then used'] as const
type Fate = (typeof FATES)[number]
const REFUND_OF: Partial<Record<Fate, 'granted' | 'granted too' | 'refused'>> = {
  refunded: 'granted',
  'refunded too': 'granted too',
  'refund refused': 'refused',
  'refund refused, then used': 'refused',
}

interface Plan {
  readonly fates: readonly Fate[]
  /** One code per ticket, or none at all. */
  readonly byCode: boolean
  readonly refusal: 606 | 699
  readonly seed: number
}

const plan = fc.record<Plan>({
  fates: fc.array(fc.constantFrom(...FATES), { minLength: 1, maxLength: 6 }),
  byCode: fc.boolean(),
  refusal: fc.constantFrom(606, 699),
  seed: fc.nat(),
})

/** Numbers from 0 to 1 that depend only on the seed, so that a failing run can be repeated. */
function numbers(seed: number): () => number {
  let state = seed | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

function shuffled<Item>(items: readonly Item[], next: () => number): Item[] {
  const keyed = items.map((item) => ({ item, key: next() }))
  return keyed.sort((one, other) => one.key - other.key).map(({ item }) => item)
}

interface Notice {
  readonly path: string
  readonly body: string
}

const VOUCHER_STATUS = { unused: 0, used: 1, refunded: 2 } as const
type TicketState = keyof typeof VOUCHER_STATUS

/** Seeds the order, plays its events one after the other, and returns the notices and the final record. */
async function happen(orderId: bigint, { fates, byCode, refusal, seed }: Plan) {
  const next = numbers(seed)
  const partnerId = Number(seller.partnerId)
  const vouchers = byCode ? fates.map((_fate, index) => `V${index}`) : []
  await seedOrder(pool, { orderId, partnerId, quantity: fates.length, vouchers })
  const refunds = [...new Set(fates.flatMap((fate) => REFUND_OF[fate] ?? []))]
  const ticketsOf = (refund: string) => fates.flatMap((fate, index) => (REFUND_OF[fate] === refund ? [index] : []))
  const refundId = (refund: string) => `${orderId}-${refund}`
  for (const refund of refunds) {
    const tickets = ticketsOf(refund)
    const codes = byCode ? tickets.map((index) => `V${index}`) : []
    await seedRefund(pool, {
      refundId: refundId(refund),
      orderId,
      partnerId,
      quantity: tickets.length,
      vouchers: codes,
    })
  }

  const tickets: TicketState[] = fates.map(() => 'unused')
  const countOf = (state: TicketState) => tickets.filter((ticket) => ticket === state).length
  const consumed = (): Notice => {
    const list = tickets.map(
      (state, index) =>
        `{"voucher":"V${index}","voucherInvalidTime":"2026-12-31 23:59:59","quantity":1,"status":${VOUCHER_STATUS[state]}}`,
    )
    const more = byCode ? `,"voucherList":[${list.join(',')}]` : ''
    const [used, refunded] = [countOf('used'), countOf('refunded')]
    return { path: CONSUME, body: consumption({ orderId, quantity: fates.length, used, refunded, more }) }
  }
  const decided = (refund: string, code: number): Notice => ({
    path: REFUND,
    body: decision(orderId, refundId(refund), code),
  })
  const uses = fates.flatMap((fate, index) =>
    fate.endsWith('used') && fate !== 'unused'
      ? [
          () => {
            tickets[index] = 'used'
            return [consumed()]
          },
        ]
      : [],
  )
  const decisions = refunds.map((refund) => () => {
    if (refund === 'refused') return [decided(refund, refusal)]
    for (const index of ticketsOf(refund)) tickets[index] = 'refunded'
    return next() < 0.5 ? [decided(refund, 200), consumed()] : [decided(refund, 200)]
  })
  const notices = shuffled([...uses, ...decisions], next).flatMap((event) => event())
  const [used, refunded] = [countOf('used'), countOf('refunded')]
  const done = used + refunded === fates.length
  const record = {
    state: done ? (used > 0 ? 'consumed' : 'refunded') : 'paid',
    used,
    refunded,
    vouchers: Object.fromEntries(byCode ? tickets.map((state, index) => [`V${index}`, state]) : []),
    refunds: Object.fromEntries(
      refunds.map((refund) => [refundId(refund), refund === 'refused' ? 'refused' : 'refunded']),
    ),
  }
  return { orderId, notices, record }
}

/** No ticket is counted twice: the history of each quantity is one rising chain that starts at 0. */
async function expectOneHistory(orderId: bigint): Promise<void> {
  const history = await historyOf(pool, orderId)
  for (const field of ['used_quantity', 'refunded_quantity']) {
    const steps = history.flatMap((line) => [...line.matchAll(new RegExp(`${field} (\\d+)→(\\d+)`, 'g'))])
    let at = 0
    for (const [, before, after] of steps) {
      expect(Number(before)).toBe(at)
      expect(Number(after)).toBeGreaterThan(at)
      at = Number(after)
    }
  }
  const decided = history.filter((line) => line.startsWith('refund ')).map((line) => line.split(':')[0])
  expect(new Set(decided).size).toBe(decided.length)
}

let lastOrder = 8985652356570000000n

it('whatever the order of arrival, the final record equals the seller’s', async () => {
  const startedAt = performance.now()
  const figures = { orders: 0, notices: 0, sent: 0 }
  await fc.assert(
    fc.asyncProperty(fc.array(plan, { minLength: 4, maxLength: 16 }), fc.nat(), async (plans, seed) => {
      const next = numbers(seed)
      const orders = []
      for (const each of plans) orders.push(await happen(++lastOrder, each))
      const notices = orders.flatMap((order) => order.notices)
      const copies = notices.flatMap((notice) => Array<Notice>(1 + Math.floor(next() * 3)).fill(notice))
      const waiting = shuffled(copies, next)
      const sendAll = async () => {
        for (let notice = waiting.pop(); notice; notice = waiting.pop()) {
          const origin = system.processes[next() < 0.5 ? 0 : 1]?.origin ?? ''
          const path = next() < 0.3 ? `/rhone${notice.path}` : notice.path
          const { text } = await send(origin, seller, { ...notice, path })
          expect(text).toBe(success(seller))
        }
      }
      await Promise.all(Array.from({ length: AT_ONCE }, sendAll))
      for (const { orderId, record } of orders) {
        expect(await recordOf(pool, orderId)).toEqual(record)
        await expectOneHistory(orderId)
      }
      figures.orders += orders.length
      figures.notices += notices.length
      figures.sent += copies.length
    }),
    { numRuns: RUNS, endOnFailure: true },
  )
  const seconds = (performance.now() - startedAt) / 1000
  process.stdout.write(
    `property: ${RUNS} runs, ${figures.orders} orders, ${figures.notices} notices sent ${figures.sent} times, ${AT_ONCE} at once over two processes, ${seconds.toFixed(1)} s\n`,
  )
})
