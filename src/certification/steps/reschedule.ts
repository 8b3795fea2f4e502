import { randomUUID } from 'node:crypto'
import { addDays } from '../../lib/beijing.ts'
import { offers } from '../choice.ts'
import type { Step } from './step.ts'
import { buyTestOrder } from './test-order.ts'

/** By the visitor's wish. */
const WHOLE_ORDER = 1

/** The whole order moves by a week: the same weekday, so most sellers ask the same price. */
export const orderReschedule: Step = {
  id: 'order-reschedule',
  name: 'sandbox.step.order_reschedule.name',
  todo: 'sandbox.step.order_reschedule.todo',
  kind: 'call',
  needs: (choice) => offers(choice, 'order-reschedule'),
  checks: ['order-state', 'reschedule-count'],
  async perform(scene) {
    const order = await buyTestOrder(scene, 'reschedule', scene.choice.products.main)
    const originDate = order.travel_date ?? ''
    await scene.require('platform', originDate !== '', { expected: 'useDateMode ≥ 1', actual: 'useDateMode 0' })
    const { order_id: orderId, quantity } = order
    const wish = {
      orderId,
      partnerOrderId: order.partner_order_id ?? '',
      rescheduleType: WHOLE_ORDER,
      rescheduleNo: randomUUID(),
      originDate,
      targetDate: addDays(originDate, 7),
    }
    const result = await scene.call('order-reschedule', wish, { orderId })
    if (result.outcome !== 'success') return
    const { rescheduleNo, successCount } = result.answer.body
    await scene.check('reschedule-count', successCount === quantity && rescheduleNo === wish.rescheduleNo, {
      path: rescheduleNo === wish.rescheduleNo ? 'body.successCount' : 'body.rescheduleNo',
      expected: rescheduleNo === wish.rescheduleNo ? String(quantity) : wish.rescheduleNo,
      actual: rescheduleNo === wish.rescheduleNo ? String(successCount) : rescheduleNo,
    })
  },
}
