import { showOrder } from '../../ticketing/show-order.ts'
import { offers } from '../choice.ts'
import { fieldIn, fieldsIn } from './notice-body.ts'
import type { Step } from './step.ts'

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
      about: { partnerDealId: main, status: '0 / 1 / 2 / 5' },
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
    const orderId = await scene.orderOf('main')
    const { quantity, created_at: since } = (await showOrder(scene.deps, orderId)).order
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
