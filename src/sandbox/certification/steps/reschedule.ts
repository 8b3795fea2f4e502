import { randomUUID } from 'node:crypto'
import { addDays } from '../../../platform/lib/time-zone.ts'
import { defineStep } from './step.ts'
import { BUY_CHECKS, buyTestOrder } from './test-order.ts'

/** rescheduleType: the visitor asked for it. */
const WHOLE_ORDER = 1

/** The whole order moves by a week: most sellers ask the same price on the same weekday. */
export const orderReschedule = defineStep({
  id: 'order-reschedule',
  kind: 'call',
  needs: ['order-reschedule'],
  expects: { ...BUY_CHECKS, 'reschedule-count': 'error' },
  async perform(context) {
    const order = await buyTestOrder(context, 'reschedule', context.choice.products.main)
    const originDate = order.travel_date ?? ''
    await context.require('platform', originDate !== '', { expected: 'useDateMode ≥ 1', actual: 'useDateMode 0' })
    const { order_id: orderId, quantity } = order
    const body = {
      orderId,
      partnerOrderId: order.partner_order_id ?? '',
      rescheduleType: WHOLE_ORDER,
      rescheduleNo: randomUUID(),
      originDate,
      targetDate: addDays(originDate, 7),
    }
    const result = await context.call('order-reschedule', body, { orderId })
    if (result.outcome !== 'success') return
    const { rescheduleNo, successCount } = result.answer.body
    await context.check('reschedule-count', successCount === quantity && rescheduleNo === body.rescheduleNo, {
      path: rescheduleNo === body.rescheduleNo ? 'body.successCount' : 'body.rescheduleNo',
      expected: rescheduleNo === body.rescheduleNo ? String(quantity) : body.rescheduleNo,
      actual: rescheduleNo === body.rescheduleNo ? String(successCount) : rescheduleNo,
    })
  },
})
