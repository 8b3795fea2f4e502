import { randomUUID } from 'node:crypto'
import { addDays } from '../../../platform/lib/time-zone.ts'
import { ORDER_STATUS } from '../../../ticketing/interfaces/index.ts'
import { closeOrder, codesIn } from '../../../ticketing/orders/index.ts'
import { offers } from '../../test-plan/index.ts'
import type { StepContext } from '../step-context.ts'
import { defineStep } from './step.ts'
import {
  ANY_PAYMENT,
  BUY_CHECKS,
  buyTestOrder,
  CREATE_CHECKS,
  checkQuantities,
  createTestOrder,
  LARGE_ID_BITS,
  payTestOrder,
  queryTestOrder,
  unpaidOrder,
  unusedOrder,
} from './test-order.ts'
import { checkReportedVouchers } from './vouchers.ts'

export const orderCreate = defineStep({
  id: 'order-create',
  kind: 'call',
  needs: [],
  expects: CREATE_CHECKS,
  async perform(context) {
    await createTestOrder(context, 'main', context.choice.products.main)
  },
})

/**
 * After a lost response the platform repeats the call and must get the same order. This step's order becomes the main
 * one: a partner that failed this step before has two orders for the old one.
 */
export const orderCreateAgain = defineStep({
  id: 'order-create-again',
  kind: 'defence',
  needs: [],
  expects: { ...CREATE_CHECKS, 'same-order': 'error' },
  async perform(context) {
    const order = await createTestOrder(context, 'main', context.choice.products.main)
    const again = await context.repeat('order-create', order.order_id)
    if (again.outcome !== 'success') return
    const [expected, actual] = [order.partner_order_id ?? '', again.answer.body.partnerOrderId]
    await context.check('same-order', actual === expected, { path: 'body.partnerOrderId', expected, actual })
  },
})

/** The partner has to answer with a failure, by contract 420, and create no order. */
export const soldOut = defineStep({
  id: 'sold-out',
  kind: 'defence',
  needs: ['sold-out'],
  expects: CREATE_CHECKS,
  async perform(context) {
    const { main, sold_out = main } = context.choice.products
    await createTestOrder(context, 'sold-out', sold_out, { codes: 'failure', usual: [420] })
  },
})

/** The partner has to report the order as paid and unused, with its quantity and the issued codes. */
export const orderQuery = defineStep({
  id: 'order-query',
  kind: 'call',
  needs: [],
  expects: { ...BUY_CHECKS, 'order-status': 'error', quantities: 'error', 'voucher-list': 'error' },
  async perform(context) {
    const order = await unusedOrder(context)
    const body = await queryTestOrder(context, order)
    if (!body) return
    const { orderStatus, ...answer } = body
    const status = { path: 'body.orderStatus', expected: String(ORDER_STATUS.issued), actual: String(orderStatus) }
    await context.check('order-status', orderStatus === ORDER_STATUS.issued, status)
    await checkQuantities(context, answer, { orderQuantity: order.quantity, usedQuantity: 0, refundedQuantity: 0 })
    const reported = codesIn(answer.voucherList, answer.credentialList)
    await checkReportedVouchers(context, order, { ...answer, reported, used: answer.usedQuantity })
  },
})

/**
 * An id beyond 2^53, which doubles round. Only warns: where live ids are that large (ORDER_ID_BITS 63), so are those of
 * all other steps, which then fail.
 */
export const largeOrderId = defineStep({
  id: 'large-order-id',
  kind: 'defence',
  needs: [],
  expects: BUY_CHECKS,
  advisory: true,
  async perform(context) {
    const { main } = context.choice.products
    context.beginTest()
    const { order_id } = await createTestOrder(context, 'large-id', main, { idBits: LARGE_ID_BITS })
    const { order } = await payTestOrder(context, order_id, ANY_PAYMENT)
    await queryTestOrder(context, order)
  },
})

export const orderClose = defineStep({
  id: 'order-close',
  kind: 'call',
  needs: ['order-close'],
  expects: CREATE_CHECKS,
  async perform(context) {
    const { order_id } = await createTestOrder(context, 'close', context.choice.products.main)
    const { order } = (await context.operate('order-close', (deps) => closeOrder(deps, order_id, context.cause))).result
    await context.check('order-state', order.state === 'closed', { expected: 'closed', actual: order.state })
  },
})

/** Closing a closed order again is a success. */
export const orderCloseAgain = defineStep({
  id: 'order-close-again',
  kind: 'defence',
  needs: ['order-close'],
  expects: {},
  async perform(context) {
    await context.repeat('order-close', await context.orderOf('close'))
  },
})

/** First 598; then the platform queries until the tickets are issued, or a pay notice arrives. */
export const orderPayLater = defineStep({
  id: 'order-pay-later',
  kind: 'call',
  needs: ['pay-later'],
  expects: BUY_CHECKS,
  async perform(context) {
    const { main, later = main } = context.choice.products
    // For a partner that always issues later, the main order is paid here.
    const orderId = offers(context.choice, 'pay-at-once')
      ? (await createTestOrder(context, 'later', later)).order_id
      : await unpaidOrder(context)
    await payTestOrder(context, orderId, { codes: [598] })
  },
})

/** rescheduleType: the visitor asked for it. */
const WHOLE_ORDER = 1

/** Only an order for a certain day can be rescheduled. */
export const checkDated = (context: StepContext<'dated-product'>, isDated: boolean): Promise<boolean> =>
  context.check('dated-product', isDated, {
    expected: 'useDateMode ≥ 1',
    actual: isDated ? 'useDateMode ≥ 1' : 'useDateMode 0',
  })

/** Moves the whole order by a week: most sellers charge the same on the same weekday. */
export const orderReschedule = defineStep({
  id: 'order-reschedule',
  kind: 'call',
  needs: ['order-reschedule'],
  expects: { ...BUY_CHECKS, 'dated-product': 'error', 'reschedule-count': 'error' },
  async perform(context) {
    const order = await buyTestOrder(context, 'reschedule', context.choice.products.main)
    const originDate = order.travel_date ?? ''
    if (!(await checkDated(context, originDate !== ''))) return
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
    const [path, expected, actual] =
      rescheduleNo === body.rescheduleNo
        ? ['body.successCount', String(quantity), String(successCount)]
        : ['body.rescheduleNo', body.rescheduleNo, rescheduleNo]
    await context.check('reschedule-count', actual === expected, { path, expected, actual })
  },
})
