import { showOrder } from '../../orders/show-order.ts'
import { offers } from '../choice.ts'
import { fieldIn, fieldsIn } from './notice-body.ts'
import type { Step } from './step.ts'
import { unusedOrder } from './test-order.ts'

/** "Information changed": what a script sends where any status will do. */
const CHANGED = '2'

/** A change of the main product, whichever kind; the platform pulls it afterwards by itself. */
export const productChange: Step = {
  id: 'product-change',
  name: 'sandbox.step.product_change.name',
  todo: 'sandbox.step.product_change.todo',
  kind: 'notice',
  needs: (choice) => offers(choice, 'product-change'),
  checks: ['notice-arrived', 'notice-accepted'],
  async perform(scene) {
    const { main } = scene.choice.products
    await scene.notice({
      path: '/mtp/api/deal/change/notice',
      about: { partnerDealId: main, status: CHANGED },
      isIt: (body) => fieldsIn(body, 'partnerDealId').includes(main),
    })
  },
}

/** All tickets of the order are used at the gate; the partner says so with cumulative quantities. */
export const consumption: Step = {
  id: 'consumption',
  name: 'sandbox.step.consumption.name',
  todo: 'sandbox.step.consumption.todo',
  kind: 'notice',
  needs: () => true,
  checks: ['notice-arrived', 'notice-accepted', 'quantities', 'order-state'],
  async perform(scene) {
    const main = await scene.orderOf('main')
    // One that is used already will do: its notice came before the person pressed Start.
    const before = (await showOrder(scene.deps, main)).order
    const usable = before.refunded_quantity === 0 && ['paid', 'consumed'].includes(before.state)
    const { order_id: orderId, quantity, created_at: since } = usable ? before : await unusedOrder(scene)
    await scene.notice({
      path: '/mtp/api/order/consume/notice',
      about: { orderId: String(orderId), quantity: String(quantity), usedQuantity: String(quantity) },
      isIt: (body) => fieldIn(body, 'orderId') === String(orderId),
      since,
    })
    const { order } = await showOrder(scene.deps, orderId)
    await scene.check('quantities', order.used_quantity === quantity, {
      path: 'body.usedQuantity',
      expected: String(quantity),
      actual: String(order.used_quantity),
    })
    await scene.check('order-state', order.state === 'consumed', { expected: 'consumed', actual: order.state })
  },
}
