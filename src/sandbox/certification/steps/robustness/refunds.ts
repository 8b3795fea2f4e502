import { randomUUID } from 'node:crypto'
import { beijingTime } from '../../../../platform/lib/time-zone.ts'
import { findProduct } from '../../../../ticketing/catalogue/index.ts'
import { ENDPOINTS } from '../../../../ticketing/mws-wire/index.ts'
import { codesIn, refundOrder, showOrder } from '../../../../ticketing/orders/index.ts'
import { type RequestOf, statedNow } from '../../../../ticketing/partner-calls/index.ts'
import type { Expectation } from '../../../checks/index.ts'
import type { StepContext } from '../../step-context.ts'
import { NOTICE_CHECKS, waitForNotice } from '../../step-notices.ts'
import { expectedConsumption, type Order, otherOrder } from '../notice-body.ts'
import { checkRefund, REVIEWING_OR_DECIDED } from '../refund.ts'
import { defineRobustnessStep } from '../step.ts'
import { BUY_CHECKS, buyTestOrder, checkQuantities, queryTestOrder } from '../test-order.ts'
import { checkReportedVouchers } from '../vouchers.ts'

/** The platform would never request such a refund; the partner has to refuse it. */
const REFUSED: Expectation = { codes: 'failure', usual: [604, 606, 607, 699] }

/** Once one ticket is used, no more than the others can be refunded. */
export const refundOfRest = defineRobustnessStep({
  id: 'refund-of-rest',
  kind: 'notice',
  expects: { ...NOTICE_CHECKS, ...BUY_CHECKS, quantities: 'error', 'refund-state': 'error' },
  async perform(context) {
    const { main } = context.choice.products
    const quantity = Math.max(2, context.choice.quantity)
    const { order_id: orderId } = await buyTestOrder(context, 'partly-used', main, { quantity })
    const order = await oneUsed(context, orderId)
    context.beginTest()
    await context.call('order-refund', refundOf(context, order, { refundQuantity: order.quantity }), {
      ...REFUSED,
      orderId,
    })
    const { partner_id: partnerId } = context.partner
    const product = await findProduct(context.deps.db, { partnerId, partnerDealId: main })
    // Without partial refunds the rest need not be refundable, and an order of one ticket has no rest.
    if (product?.details.partlyRefund === true && order.quantity > 1) {
      const input = refundOrder.input.parse({ order_id: orderId, quantity: order.quantity - 1 })
      await context.operate('order-refund', (deps) => refundOrder(deps, input, context.cause), { codes: [200, 602] })
      await checkRefund(context, orderId, REVIEWING_OR_DECIDED)
    }
    await checkCounts(context, orderId)
  },
})

/** Waits until the partner reports one ticket as used; returns the order. */
async function oneUsed(
  context: StepContext<keyof typeof NOTICE_CHECKS | 'quantities'>,
  orderId: bigint,
): Promise<Order> {
  const bought = (await showOrder(context.deps, orderId)).order
  await waitForNotice(context, {
    path: ENDPOINTS.consume,
    about: { orderId: String(orderId), quantity: String(bought.quantity), usedQuantity: '1' },
    notice: expectedConsumption(context, bought, 1),
    otherSubject: (body) => otherOrder(orderId, body),
  })
  const { order } = await showOrder(context.deps, orderId)
  await context.require('quantities', order.used_quantity === 1, {
    path: 'body.usedQuantity',
    expected: '1',
    actual: String(order.used_quantity),
  })
  return order
}

/** The partner has to report our quantities: refused refunds must not count. */
async function checkCounts(context: StepContext<'quantities'>, orderId: bigint): Promise<void> {
  const { order } = await showOrder(context.deps, orderId)
  const reported = await queryTestOrder(context, order)
  const known = { usedQuantity: order.used_quantity, refundedQuantity: order.refunded_quantity }
  if (reported) await checkQuantities(context, reported, known)
}

/** All tickets of the `consumption` step's order are used, so none can be refunded. */
export const refundAfterUse = defineRobustnessStep({
  id: 'refund-after-use',
  kind: 'defence',
  expects: { quantities: 'error' },
  async perform(context) {
    const orderId = await context.orderOf('consumption')
    const { order } = await showOrder(context.deps, orderId)
    const request = refundOf(context, order, { refundQuantity: order.quantity })
    context.beginTest()
    await context.call('order-refund', request, { ...REFUSED, orderId })
    await checkCounts(context, orderId)
  },
})

/** The partner must neither report codes that were not issued for the order, nor refund them. */
export const foreignCode = defineRobustnessStep({
  id: 'foreign-code',
  kind: 'defence',
  expects: { ...BUY_CHECKS, 'voucher-list': 'error', quantities: 'error' },
  async perform(context) {
    const order = await buyTestOrder(context, 'foreign-code', context.choice.products.main)
    context.beginTest()
    const orderId = order.order_id
    const answer = await queryTestOrder(context, order)
    if (answer) {
      const { voucherList, credentialList, usedQuantity: used, voucherType } = answer
      const reported = codesIn(voucherList, credentialList)
      await checkReportedVouchers(context, order, { reported, used, voucherType })
    }
    // Where a document opens the gate, there are no codes.
    if (order.vouchers.length === 0) return
    const foreign = { refundQuantity: 1, voucherList: [`FOREIGN${randomUUID().slice(0, 8)}`] }
    await context.call('order-refund', refundOf(context, order, foreign), { ...REFUSED, orderId })
    await checkCounts(context, orderId)
  },
})

type RefundRequest = RequestOf<'order-refund'>

function refundOf(
  { deps }: StepContext,
  order: Order,
  { refundQuantity, voucherList }: Pick<RefundRequest, 'refundQuantity' | 'voucherList'>,
): RefundRequest {
  return {
    orderId: order.order_id,
    refundId: randomUUID(),
    partnerOrderId: order.partner_order_id ?? '',
    partnerDealId: order.partner_deal_id,
    voucherList: voucherList ?? order.vouchers.map(({ voucher }) => voucher),
    refundQuantity,
    unitPrice: order.unit_price,
    refundPrice: Math.round(order.unit_price * 100 * Number(refundQuantity)) / 100,
    refundFee: 0,
    refundTime: beijingTime(statedNow(deps)),
  }
}
