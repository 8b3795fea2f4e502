import { OPERATOR } from '../../audit/history.ts'
import { ORDER_STATUS } from '../../interfaces/order.ts'
import { closeOrder } from '../../orders/close-order.ts'
import { offers } from '../choice.ts'
import type { Step } from './step.ts'
import { createTestOrder, payTestOrder, unpaidOrder, unusedOrder } from './test-order.ts'

export const orderCreate: Step = {
  id: 'order-create',
  name: 'sandbox.step.order_create.name',
  todo: 'sandbox.step.order_create.todo',
  kind: 'call',
  needs: () => true,
  checks: ['order-state'],
  async perform(scene) {
    await createTestOrder(scene, 'main', scene.choice.products.main)
  },
}

/**
 * The platform asks again when an answer got lost; it must get the same order. With an order of its own, the main one
 * from then on: where it went wrong once, the partner has two.
 */
export const orderCreateAgain: Step = {
  id: 'order-create-again',
  name: 'sandbox.step.order_create_again.name',
  todo: 'sandbox.step.order_create_again.todo',
  kind: 'defence',
  needs: () => true,
  checks: ['same-order'],
  async perform(scene) {
    const order = await createTestOrder(scene, 'main', scene.choice.products.main)
    const again = await scene.repeat('order-create', order.order_id)
    if (again.outcome !== 'success') return
    const [expected, actual] = [order.partner_order_id ?? '', again.answer.body.partnerOrderId]
    await scene.check('same-order', actual === expected, { path: 'body.partnerOrderId', expected, actual })
  },
}

/** Nothing is left: a failure, 420 by contract, and no order. */
export const soldOut: Step = {
  id: 'sold-out',
  name: 'sandbox.step.sold_out.name',
  todo: 'sandbox.step.sold_out.todo',
  kind: 'defence',
  needs: (choice) => offers(choice, 'sold-out'),
  checks: ['order-state'],
  async perform(scene) {
    const { main, sold_out = main } = scene.choice.products
    await createTestOrder(scene, 'sold-out', sold_out, { codes: 'failure', usual: [420] })
  },
}

/** Paid and as it was ordered, nothing used yet. */
export const orderQuery: Step = {
  id: 'order-query',
  name: 'sandbox.step.order_query.name',
  todo: 'sandbox.step.order_query.todo',
  kind: 'call',
  needs: () => true,
  checks: ['order-status', 'quantities'],
  async perform(scene) {
    const order = await unusedOrder(scene)
    const orderId = order.order_id
    const ask = { orderId, partnerOrderId: order.partner_order_id ?? '' }
    const result = await scene.call('order-query', ask, { orderId })
    if (result.outcome !== 'success') return
    const { orderStatus, ...said } = result.answer.body
    const status = { path: 'body.orderStatus', expected: String(ORDER_STATUS.issued), actual: String(orderStatus) }
    await scene.check('order-status', orderStatus === ORDER_STATUS.issued, status)
    const numbers = { orderQuantity: order.quantity, usedQuantity: 0, refundedQuantity: 0 }
    for (const [field, expected] of Object.entries(numbers)) {
      const actual = said[field as keyof typeof numbers]
      const more = { path: `body.${field}`, expected: String(expected), actual: String(actual) }
      await scene.check('quantities', actual === expected, more)
    }
  },
}

export const orderClose: Step = {
  id: 'order-close',
  name: 'sandbox.step.order_close.name',
  todo: 'sandbox.step.order_close.todo',
  kind: 'call',
  needs: (choice) => offers(choice, 'order-close'),
  checks: ['order-state'],
  async perform(scene) {
    const { order_id } = await createTestOrder(scene, 'close', scene.choice.products.main)
    const { order } = await scene.operate('order-close', order_id, (deps) => closeOrder(deps, order_id, OPERATOR))
    await scene.check('order-state', order.state === 'closed', { expected: 'closed', actual: order.state })
  },
}

/** Closed already is success. */
export const orderCloseAgain: Step = {
  id: 'order-close-again',
  name: 'sandbox.step.order_close_again.name',
  todo: 'sandbox.step.order_close_again.todo',
  kind: 'defence',
  needs: (choice) => offers(choice, 'order-close'),
  checks: [],
  async perform(scene) {
    await scene.repeat('order-close', await scene.orderOf('close'))
  },
}

/** 598 at first; then the partner is asked until the tickets are issued, or sends a pay notice. */
export const orderPayLater: Step = {
  id: 'order-pay-later',
  name: 'sandbox.step.order_pay_later.name',
  todo: 'sandbox.step.order_pay_later.todo',
  kind: 'call',
  needs: (choice) => offers(choice, 'pay-later'),
  checks: ['order-state', 'notice-accepted'],
  async perform(scene) {
    const { main, later = main } = scene.choice.products
    // Where every order is paid like this, it is the main one that is.
    const orderId = offers(scene.choice, 'pay-at-once')
      ? (await createTestOrder(scene, 'later', later)).order_id
      : await unpaidOrder(scene)
    await payTestOrder(scene, orderId, { codes: [598] })
  },
}
