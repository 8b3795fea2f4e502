import { OPERATOR } from '../../ticketing/history.ts'
import { payOrder } from '../../ticketing/pay-order.ts'
import { offers } from '../choice.ts'
import { buy } from './buy.ts'
import type { Step } from './step.ts'

export const orderCreate: Step = {
  id: 'order-create',
  name: 'sandbox.step.order_create.name',
  todo: 'sandbox.step.order_create.todo',
  kind: 'call',
  needs: (choice) => offers(choice, 'order-create'),
  checks: ['order-state'],
  async perform(scene) {
    await buy(scene, 'main', scene.choice.products.main)
  },
}

/** Issued at once: the answer is 200 and brings the vouchers. */
export const orderPay: Step = {
  id: 'order-pay',
  name: 'sandbox.step.order_pay.name',
  todo: 'sandbox.step.order_pay.todo',
  kind: 'call',
  needs: (choice) => offers(choice, 'pay-at-once'),
  checks: ['order-state', 'vouchers'],
  async perform(scene) {
    const orderId = await scene.orderOf('main')
    const { order } = await scene.operate('order-pay', orderId, (deps) => payOrder(deps, orderId, OPERATOR))
    await scene.check('order-state', order.state === 'paid', { expected: 'paid', actual: order.state })
  },
}
