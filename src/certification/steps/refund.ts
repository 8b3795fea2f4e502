import { OPERATOR } from '../../audit/history.ts'
import { findProduct } from '../../catalogue/product-store.ts'
import { type RefundAnswer, refundOrder } from '../../orders/refund-order.ts'
import { tellRefunded } from '../../orders/refunded-message.ts'
import { showOrder } from '../../orders/show-order.ts'
import type { RefundState } from '../../orders/states.ts'
import { newRefund, newRefundedMessage } from '../../orders/wire.ts'
import { offers } from '../choice.ts'
import type { Expectation } from '../examine.ts'
import { shown } from '../examine-code.ts'
import type { OrderRole, Scene } from '../scene.ts'
import { fieldIn } from './notice-body.ts'
import type { Step } from './step.ts'
import { buyTestOrder } from './test-order.ts'

const REFUNDED: readonly RefundState[] = ['refunded']
/** Under review, or decided already: a partner may be quicker than our look at the record. */
const ASKED: readonly RefundState[] = ['reviewing', 'refunded', 'refused']

/** Of a refund that is there already: done, done before, under review, or one of the contract's refusals. */
const REPEATED = [200, 601, 602, 604, 606, 607, 699]

export const refundAtOnce: Step = {
  id: 'refund-at-once',
  name: 'sandbox.step.refund_at_once.name',
  todo: 'sandbox.step.refund_at_once.todo',
  kind: 'call',
  needs: (choice) => offers(choice, 'refund-at-once'),
  checks: ['order-state', 'refund-state', 'refund-id'],
  async perform(scene) {
    await askForRefund(scene, 'refund', scene.choice.products.main, REFUNDED, {})
  },
}

export const refundAfterReview: Step = {
  id: 'refund-after-review',
  name: 'sandbox.step.refund_after_review.name',
  todo: 'sandbox.step.refund_after_review.todo',
  kind: 'call',
  needs: (choice) => offers(choice, 'refund-after-review'),
  checks: ['order-state', 'refund-state'],
  async perform(scene) {
    const { main, review = main } = scene.choice.products
    await askForRefund(scene, 'review', review, ASKED, { codes: [602] })
  },
}

/** The partner decides on the refund under review, in favour. */
export const refundNotice: Step = {
  id: 'refund-notice',
  name: 'sandbox.step.refund_notice.name',
  todo: 'sandbox.step.refund_notice.todo',
  kind: 'notice',
  needs: (choice) => offers(choice, 'refund-after-review'),
  checks: ['notice-arrived', 'notice-accepted', 'refund-state'],
  async perform(scene) {
    const orderId = await orderUnderReview(scene)
    const { refunds, created_at: since } = (await showOrder(scene.deps, orderId)).order
    const refundId = refunds[0]?.refund_id ?? ''
    await scene.notice({
      path: '/mtp/api/order/refund/notice',
      about: { code: '200', orderId: String(orderId), refundId },
      isIt: (body) => fieldIn(body, 'refundId') === refundId,
      since,
    })
    await checkRefund(scene, orderId, REFUNDED)
  },
}

/**
 * The same refundId again gives no further money back; a lost answer makes the platform ask again. With an order of its
 * own: where it went wrong once, that order's numbers stay wrong.
 */
export const refundAgain: Step = {
  id: 'refund-again',
  name: 'sandbox.step.refund_again.name',
  todo: 'sandbox.step.refund_again.todo',
  kind: 'defence',
  needs: () => true,
  checks: ['quantities'],
  async perform(scene) {
    const { main, review = main } = scene.choice.products
    const orderId = offers(scene.choice, 'refund-at-once')
      ? await askForRefund(scene, 'refund-twice', main, REFUNDED, {})
      : await askForRefund(scene, 'refund-twice', review, ASKED, { codes: [602] })
    // Whatever it says: the money is what counts, and the order query tells.
    await scene.repeat('order-refund', orderId, { codes: REPEATED, usual: [200, 601, 602] })
    const { order } = await showOrder(scene.deps, orderId)
    const ask = { orderId, partnerOrderId: order.partner_order_id ?? '' }
    const result = await scene.call('order-query', ask, { orderId })
    if (result.outcome !== 'success') return
    const [expected, actual] = [order.refunded_quantity, result.answer.body.refundedQuantity]
    await scene.check('quantities', actual === expected, {
      path: 'body.refundedQuantity',
      expected: String(expected),
      actual: String(actual),
    })
  },
}

/** The platform has refunded by itself (refundMessageType 1) and tells it. */
export const refundedMessage: Step = {
  id: 'refunded-message',
  name: 'sandbox.step.refunded_message.name',
  todo: 'sandbox.step.refunded_message.todo',
  kind: 'call',
  needs: (choice) => offers(choice, 'refunded-message'),
  checks: ['order-state'],
  async perform(scene) {
    const { order_id } = await buyTestOrder(scene, 'message', scene.choice.products.main)
    const message = newRefundedMessage.parse({ order_id, type: 1, reason: 'Sandbox 测试' })
    await scene.operate('order-refunded', order_id, (deps) => tellRefunded(deps, message, OPERATOR))
  },
}

/** The order of the step before; a new one where the partner has decided against its refund, which is final. */
async function orderUnderReview(scene: Scene): Promise<bigint> {
  const orderId = await scene.orderOf('review')
  const [refund] = (await showOrder(scene.deps, orderId)).order.refunds
  if (refund && refund.state !== 'refused') return orderId
  const { main, review = main } = scene.choice.products
  return askForRefund(scene, 'review', review, ASKED, { codes: [602] })
}

/** Buys, and asks for one ticket back (all, where parts are not refunded), so that a second refund would show; the order. */
async function askForRefund(
  scene: Scene,
  role: OrderRole,
  partnerDealId: string,
  states: readonly RefundState[],
  expectation: Expectation,
): Promise<bigint> {
  const { order_id, quantity } = await buyTestOrder(scene, role, partnerDealId)
  const { partner_id: partnerId } = scene.partner
  const product = await findProduct(scene.deps.db, { partnerId, partnerDealId })
  const partly = product?.details.partlyRefund === true && quantity > 1
  const wish = newRefund.parse({ order_id, ...(partly ? { quantity: 1 } : {}) })
  await scene.operate<RefundAnswer>('order-refund', order_id, (deps) => refundOrder(deps, wish, OPERATOR), expectation)
  await checkRefund(scene, order_id, states)
  await checkRefundId(scene, order_id)
  return order_id
}

/** The answer may repeat the refundId; then it is the one that was asked about. */
async function checkRefundId(scene: Scene, orderId: bigint): Promise<void> {
  const answer = (await scene.jsonAbout('order-refund', orderId)) as { body?: { refundId?: unknown } } | undefined
  const expected = (await showOrder(scene.deps, orderId)).order.refunds[0]?.refund_id ?? ''
  const actual = answer?.body?.refundId
  if (actual === undefined || actual === null || actual === '') return
  await scene.check('refund-id', String(actual) === expected, {
    path: 'body.refundId',
    expected,
    actual: shown(actual),
    doc: 'order-refund.answer.body.refundId',
  })
}

async function checkRefund(scene: Scene, orderId: bigint, states: readonly RefundState[]): Promise<void> {
  const [refund] = (await showOrder(scene.deps, orderId)).order.refunds
  const passed = refund !== undefined && states.includes(refund.state)
  const [expected = ''] = states
  const actual = refund?.state ?? 'none'
  // Why no answer came is no reason of the partner's; it stands at the call, in the words that may be told.
  const said = refund?.decision_code === null ? null : refund?.reason
  await scene.check('refund-state', passed, { expected, actual: said ? `${actual}: ${said}` : actual })
}
