import { showOrder } from '../../orders/index.ts'
import { fieldIn, fieldsIn } from './notice-body.ts'
import type { Step } from './step.ts'
import { unusedOrder } from './test-order.ts'

/** "Information changed": the value for a script to send where any status is accepted. */
const CHANGED = '2'

/** Any change of the main product; the platform pulls the product afterwards. */
export const productChange: Step = {
  id: 'product-change',
  kind: 'notice',
  needs: ['product-change'],
  expects: { 'notice-arrived': 'error', 'notice-accepted': 'error' },
  async perform(context) {
    const { main } = context.choice.products
    await context.waitForNotice({
      path: '/mtp/api/deal/change/notice',
      about: { partnerDealId: main, status: CHANGED },
      isIt: (body) => fieldsIn(body, 'partnerDealId').includes(main),
    })
  },
}

/** All tickets of the order are used at the gate; the partner says so with cumulative quantities. */
export const consumption: Step = {
  id: 'consumption',
  kind: 'notice',
  needs: [],
  expects: { 'notice-arrived': 'error', 'notice-accepted': 'error', quantities: 'error', 'order-state': 'error' },
  async perform(context) {
    const main = await context.orderOf('main')
    // A used order is accepted: its notice came before the person pressed Start.
    const before = (await showOrder(context.deps, main)).order
    const usable = before.refunded_quantity === 0 && ['paid', 'consumed'].includes(before.state)
    const { order_id: orderId, quantity, created_at: since } = usable ? before : await unusedOrder(context)
    await context.waitForNotice({
      path: '/mtp/api/order/consume/notice',
      about: { orderId: String(orderId), quantity: String(quantity), usedQuantity: String(quantity) },
      isIt: (body) => fieldIn(body, 'orderId') === String(orderId),
      since,
    })
    const { order } = await showOrder(context.deps, orderId)
    await context.check('quantities', order.used_quantity === quantity, {
      path: 'body.usedQuantity',
      expected: String(quantity),
      actual: String(order.used_quantity),
    })
    await context.check('order-state', order.state === 'consumed', { expected: 'consumed', actual: order.state })
  },
}
