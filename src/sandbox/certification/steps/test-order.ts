import { localized } from '../../../platform/lib/localized-text.ts'
import { ENDPOINTS } from '../../../ticketing/mws-wire/index.ts'
import { createOrder, payOrder, queryOrder, showOrder, storedOrders } from '../../../ticketing/orders/index.ts'
import type { Expectation } from '../../checks/index.ts'
import { type OrderOptions, runOrderInput } from '../order-input.ts'
import { linkedOrders, type OrderRole } from '../run-store.ts'
import type { StepContext } from '../step-context.ts'
import { announceWaiting, failRefused, NOTICE_CHECKS, pollUntil, watchNotices } from '../step-notices.ts'
import { expectedPay, type Order, otherOrder } from './notice-body.ts'

/** Ids beyond 2^53, which programs that read ids as doubles will round. */
export const LARGE_ID_BITS = 63

export const CREATE_CHECKS = { 'order-state': 'error', 'distinct-orders': 'warning' } as const
/** The checks of buyTestOrder and unusedOrder; a partner that issues tickets later may send a pay notice. */
export const BUY_CHECKS = { ...CREATE_CHECKS, ...NOTICE_CHECKS } as const

type CreateContext = StepContext<keyof typeof CREATE_CHECKS>
type PayContext = StepContext<'order-state' | 'notice-accepted' | 'notice-arrived'>
type BuyContext = StepContext<keyof typeof BUY_CHECKS>

/** Creates an order with the platform's own operation. With `codes` the order has to be refused. */
export async function createTestOrder(
  context: CreateContext,
  role: OrderRole,
  partnerDealId: string,
  options: Expectation & OrderOptions = {},
): Promise<Order> {
  const input = await runOrderInput(context, role, partnerDealId, options)
  const create = (inside: StepContext['deps']) => createOrder(inside, input, context.cause, 'test-run')
  const { order } = (await context.operate('order-create', create, options)).result
  const expected = options.codes ? 'create_failed' : 'created'
  await context.require('order-state', order.state === expected, { expected, actual: order.state })
  await warnOfSharedId(context, order)
  return order
}

/** Two orders of a run with one partnerOrderId: the partner took them for the same order. */
async function warnOfSharedId(context: CreateContext, { order_id, partner_order_id: id }: Order): Promise<void> {
  const others = await storedOrders(context.deps.db, await linkedOrders(context.deps.db, context.runId))
  const same = others.find((other) => other.order_id !== order_id && other.partner_order_id === id)
  if (id === null || !same) return
  const actual = localized('id-of-order', { value: id, order: String(same.order_id) })
  await context.check('distinct-orders', false, { path: 'body.partnerOrderId', actual })
}

/** The main order, or a new one if an earlier attempt has paid it. */
export async function unpaidOrder(context: CreateContext): Promise<bigint> {
  const orderId = await context.orderOf('main')
  const { order } = await showOrder(context.deps, orderId)
  if (order.state === 'created') return orderId
  return (await createTestOrder(context, 'main', context.choice.products.main)).order_id
}

/** The platform queries for tickets often at first, then less often. */
const ASK_OFTEN_MS = 30_000
export const ASK_EVERY_MS = 2_000
const ASK_LATER_EVERY_MS = 15_000
const POLL_MS = 500

/** Pays an order. After 598 it waits until a query shows the tickets as issued, or the partner sends a pay notice. */
export async function payTestOrder(context: PayContext, orderId: bigint, expectation: Expectation) {
  const pay = (deps: StepContext['deps']) => payOrder(deps, orderId, context.cause)
  const { result, answer } = await context.operate('order-pay', pay, expectation)
  const order = result.order.state === 'paying' ? await issuedLater(context, result.order) : result.order
  await context.require('order-state', order.state === 'paid', { expected: 'paid', actual: order.state })
  return { order, answer }
}

async function issuedLater(context: PayContext, paying: Order): Promise<Order> {
  const { order_id: orderId, partner_order_id: partnerOrderId } = paying
  const { deps, noticeTimeoutS } = context
  const isPaying = async () => (await showOrder(deps, orderId)).order.state === 'paying'
  const path = ENDPOINTS.pay
  await announceWaiting(context, {
    path,
    about: { orderId: String(orderId), partnerOrderId: partnerOrderId ?? '' },
    notice: expectedPay(context, paying),
  })
  const notices = watchNotices(context, {
    path,
    otherSubject: (body) => otherOrder(orderId, body),
    // A notice may say that the codes come later (asyReturnVoucher), so the state of the order decides.
    stillMissing: async () => ((await isPaying()) ? localized('codes-follow') : undefined),
  })
  const ask = (inside: StepContext['deps']) => queryOrder(inside, orderId, context.cause)
  const since = deps.clock.elapsedMs()
  let next = since + ASK_EVERY_MS
  const isIssued = async (): Promise<boolean> => {
    if (await notices.poll()) return true
    const now = deps.clock.elapsedMs()
    if (now < next) return false
    next = now + (now < since + ASK_OFTEN_MS ? ASK_EVERY_MS : ASK_LATER_EVERY_MS)
    // A refused notice has to be corrected, even if order query has brought the tickets.
    const { order } = (await context.operate('order-query', ask)).result
    return order.state !== 'paying' && notices.lastRefused() === undefined
  }
  const issued = await pollUntil(context, noticeTimeoutS, isIssued, POLL_MS)
  // A notice may have arrived during the last query.
  if (!(await notices.poll())) await failRefused(context, notices)
  if (!issued) {
    const actual = localized('no-pay-notice', { seconds: String(noticeTimeoutS) })
    await context.require('notice-arrived', false, { expected: `POST ${path}`, actual })
  }
  return (await showOrder(deps, orderId)).order
}

/** The partner's description of an order; undefined if the query failed. */
export async function queryTestOrder(context: StepContext, order: Order) {
  const { order_id: orderId, partner_order_id } = order
  const result = await context.call('order-query', { orderId, partnerOrderId: partner_order_id ?? '' }, { orderId })
  return result.outcome === 'success' ? result.answer.body : undefined
}

/** Compares ticket quantities reported by the partner with ours. */
export async function checkQuantities<Name extends string>(
  context: StepContext<'quantities'>,
  reported: Readonly<Record<NoInfer<Name>, number>>,
  known: Readonly<Record<Name, number>>,
): Promise<void> {
  for (const field of Object.keys(known) as Name[]) {
    const [actual, expected] = [reported[field], known[field]]
    const details = { path: `body.${field}`, expected: String(expected), actual: String(actual) }
    await context.check('quantities', actual === expected, details)
  }
}

/** For steps that do not care whether tickets are issued at once or later. */
export const ANY_PAYMENT: Expectation = { codes: [200, 598] }

/** Creates and pays an order. */
export async function buyTestOrder(
  context: BuyContext,
  role: OrderRole,
  partnerDealId: string,
  options: OrderOptions = {},
): Promise<Order> {
  const { order_id } = await createTestOrder(context, role, partnerDealId, options)
  return (await payTestOrder(context, order_id, ANY_PAYMENT)).order
}

/**
 * The main order, or a new one if any of its tickets are used or refunded: a partner may have done so before their
 * step.
 */
export async function unusedOrder(context: BuyContext): Promise<Order> {
  const { order } = await showOrder(context.deps, await context.orderOf('main'))
  if (order.state === 'paid' && order.used_quantity === 0 && order.refunded_quantity === 0) return order
  return buyTestOrder(context, 'main', context.choice.products.main)
}
