import { localized } from '../../../platform/lib/localized-text.ts'
import { findProduct } from '../../../ticketing/catalogue/index.ts'
import { ENDPOINTS } from '../../../ticketing/mws-wire/index.ts'
import { type RefundState, refundByPlatform, refundOrder, showOrder } from '../../../ticketing/orders/index.ts'
import type { Expectation } from '../../checks/index.ts'
import { offers } from '../../test-plan/index.ts'
import type { OrderRole } from '../run-store.ts'
import type { RunDeps } from '../running-attempts.ts'
import type { StepContext } from '../step-context.ts'
import { NOTICE_CHECKS, waitForNotice } from '../step-notices.ts'
import { expectedApproval, fieldIn, otherOrder } from './notice-body.ts'
import { defineStep } from './step.ts'
import { BUY_CHECKS, buyTestOrder, checkQuantities, queryTestOrder } from './test-order.ts'

const REFUND_CHECKS = { ...BUY_CHECKS, 'refund-state': 'error' } as const
type RefundContext = StepContext<keyof typeof REFUND_CHECKS>

const REFUNDED: readonly RefundState[] = ['refunded']
/** A partner may have decided before we look. */
export const REVIEWING_OR_DECIDED: readonly RefundState[] = ['reviewing', 'refunded', 'refused']

/** Codes for a repeated refund: done now or before, under review, or one of the contract's refusals. */
const REPEATED_REFUND_CODES = [200, 601, 602, 604, 606, 607, 699]

export const refundAtOnce = defineStep({
  id: 'refund-at-once',
  kind: 'call',
  needs: ['refund-at-once'],
  expects: REFUND_CHECKS,
  async perform(context) {
    await requestRefund(context, 'refund', context.choice.products.main, REFUNDED)
  },
})

export const refundAfterReview = defineStep({
  id: 'refund-after-review',
  kind: 'call',
  needs: ['refund-after-review'],
  expects: REFUND_CHECKS,
  async perform(context) {
    await requestReviewedRefund(context, 'review')
  },
})

/** The partner has to approve the refund that is under review. */
export const refundNotice = defineStep({
  id: 'refund-notice',
  kind: 'notice',
  needs: ['refund-after-review'],
  expects: { ...NOTICE_CHECKS, ...REFUND_CHECKS },
  async perform(context) {
    const orderId = await orderUnderReview(context)
    const { order } = await showOrder(context.deps, orderId)
    const refundId = order.refunds[0]?.refund_id ?? ''
    await waitForNotice(context, {
      path: ENDPOINTS.refund,
      about: { code: '200', orderId: String(orderId), partnerOrderId: order.partner_order_id ?? '', refundId },
      notice: expectedApproval(context, order, refundId),
      otherSubject: (body, accepted) => {
        const other = otherOrder(orderId, body)
        const named = fieldIn(body, 'refundId')
        if (other || !accepted || named === refundId) return other
        return localized('other-refund', { said: named ?? '', wanted: refundId })
      },
      since: order.created_at,
    })
    await checkRefund(context, orderId, REFUNDED)
  },
})

/**
 * After a lost response the platform repeats the same refundId, which must not refund twice. A second refund with a new
 * id must refund another ticket. Each attempt buys a new order, because the quantities of a failed one stay wrong.
 */
export const refundAgain = defineStep({
  id: 'refund-again',
  kind: 'defence',
  needs: [],
  expects: { ...REFUND_CHECKS, quantities: 'error' },
  async perform(context) {
    const orderId = offers(context.choice, 'refund-at-once')
      ? await requestRefund(context, 'refund-twice', context.choice.products.main, REFUNDED)
      : await requestReviewedRefund(context, 'refund-twice')
    // Whatever the response is, order query shows whether money was refunded twice.
    await context.repeat('order-refund', orderId, { codes: REPEATED_REFUND_CODES, usual: [200, 601, 602] })
    await checkRefunded(context, orderId)
    // Another refund of the same order must not be taken for a repeat of the first.
    const { order } = await showOrder(context.deps, orderId)
    const [first, ...others] = order.refunds
    if (first?.state !== 'refunded' || others.length > 0 || order.state !== 'paid') return
    const another = refundOrder.input.parse({ order_id: orderId, quantity: 1 })
    await context.operate('order-refund', (deps) => refundOrder(deps, another, context.cause), { codes: [200, 602] })
    await checkRefunded(context, orderId)
  },
})

/** The partner has to report as many refunded tickets as we know of. */
async function checkRefunded(context: StepContext<'quantities'>, orderId: bigint): Promise<void> {
  const { order } = await showOrder(context.deps, orderId)
  const reported = await queryTestOrder(context, order)
  if (reported) await checkQuantities(context, reported, { refundedQuantity: order.refunded_quantity })
}

/** The platform informs the partner of a refund that it made itself (refundMessageType 1). */
export const refundedMessage = defineStep({
  id: 'refunded-message',
  kind: 'call',
  needs: ['refunded-message'],
  expects: BUY_CHECKS,
  async perform(context) {
    const { order_id } = await buyTestOrder(context, 'message', context.choice.products.main)
    const message = refundByPlatform.input.parse({ order_id, type: 1, reason: '沙箱测试' })
    await context.operate('order-refunded', (deps) => refundByPlatform(deps, message, context.cause))
  },
})

/**
 * The first attempt uses the order of the previous step, unless its refund was refused, which is final. Later attempts
 * buy a new one, so that earlier notices cannot complete them.
 */
async function orderUnderReview(context: RefundContext): Promise<bigint> {
  const orderId = await context.orderOf('review')
  const [refund] = (await showOrder(context.deps, orderId)).order.refunds
  if (context.number === 1 && refund && refund.state !== 'refused') return orderId
  return requestReviewedRefund(context, 'review')
}

function requestReviewedRefund(context: RefundContext, role: OrderRole): Promise<bigint> {
  const { main, review = main } = context.choice.products
  return requestRefund(context, role, review, REVIEWING_OR_DECIDED, { codes: [602] })
}

/** Buys an order and requests a refund of one ticket (of all, if partial refunds are impossible). */
async function requestRefund(
  context: RefundContext,
  role: OrderRole,
  partnerDealId: string,
  states: readonly RefundState[],
  expectation: Expectation = {},
): Promise<bigint> {
  const { order_id, quantity } = await buyTestOrder(context, role, partnerDealId)
  const { partner_id: partnerId } = context.partner
  const product = await findProduct(context.deps.db, { partnerId, partnerDealId })
  const partly = product?.details.partlyRefund === true && quantity > 1
  const input = refundOrder.input.parse({ order_id, ...(partly ? { quantity: 1 } : {}) })
  const refund = (deps: RunDeps) => refundOrder(deps, input, context.cause)
  await context.operate('order-refund', refund, expectation)
  await checkRefund(context, order_id, states)
  return order_id
}

export async function checkRefund(
  context: StepContext<'refund-state'>,
  orderId: bigint,
  states: readonly RefundState[],
): Promise<void> {
  const [refund] = (await showOrder(context.deps, orderId)).order.refunds
  const passed = refund !== undefined && states.includes(refund.state)
  const [expected = ''] = states
  const actual = refund?.state ?? localized('none')
  // Without a decision code the reason is our own; the log shows it with the call, redacted.
  const reason = refund?.decision_code === null ? null : refund?.reason
  const stateAndReason = reason ? localized('state-and-reason', { state: actual, reason }) : actual
  await context.check('refund-state', passed, { expected, actual: stateAndReason })
}
