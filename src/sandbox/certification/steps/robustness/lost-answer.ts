import { createOrder, issuedCodes, payOrder, queryOrder, showOrder } from '../../../../ticketing/orders/index.ts'
import { askUntil } from '../../ask-until.ts'
import type { RunDeps } from '../../deps.ts'
import { runOrderInput } from '../../order-input.ts'
import type { StepContext } from '../../step-context.ts'
import { defineStep } from '../step.ts'
import { ASK_EVERY_MS } from '../test-order.ts'
import { checkSameVouchers } from '../vouchers.ts'
import type { Order } from '../wanted-notice.ts'

/**
 * The platform hangs up before it has read the answers to order create and order pay, as when a network fails, and asks
 * again as it does then. There is one order with one set of tickets.
 */
export const lostAnswer = defineStep({
  id: 'lost-answer',
  kind: 'defence',
  needs: ['robustness'],
  expects: { 'order-state': 'error', 'same-order': 'error', 'same-vouchers': 'error' },
  advisory: true,
  async perform(context) {
    const input = await runOrderInput(context, 'lost', context.choice.products.main)
    const orderId = input.order_id
    const create = (deps: RunDeps) => createOrder(deps, input, context.cause, 'test-run')
    context.beginTest()
    await context.loseAnswer('order-create', create)
    const { order } = (await context.operate('order-create', create)).result
    await context.require('order-state', order.state === 'created', { expected: 'created', actual: order.state })
    const again = await context.repeat('order-create', orderId)
    if (again.outcome === 'success') {
      const [expected, actual] = [order.partner_order_id ?? '', again.answer.body.partnerOrderId]
      await context.check('same-order', actual === expected, { path: 'body.partnerOrderId', expected, actual })
    }
    const paid = await payWithLostAnswer(context, orderId)
    const payment = await context.repeat('order-pay', orderId)
    if (payment.outcome === 'success') {
      await checkSameVouchers(context, paid, issuedCodes(payment.answer.body, paid.quantity))
    }
  },
})

const ISSUED_WITHIN_S = 60

async function payWithLostAnswer(context: StepContext<'order-state'>, orderId: bigint): Promise<Order> {
  const pay = (deps: RunDeps) => payOrder(deps, orderId, context.cause)
  await context.loseAnswer('order-pay', pay)
  await askUntil(
    context,
    ISSUED_WITHIN_S,
    async () => {
      const { result } = await context.operate('order-query', (deps) => queryOrder(deps, orderId, context.cause))
      // The payment has not arrived.
      if (result.order.state === 'created') await context.operate('order-pay', pay, { codes: [200, 598] })
      return (await showOrder(context.deps, orderId)).order.state === 'paid'
    },
    ASK_EVERY_MS,
  )
  const { order } = await showOrder(context.deps, orderId)
  await context.require('order-state', order.state === 'paid', { expected: 'paid', actual: order.state })
  return order
}
