import {
  closeOrder,
  createOrder,
  issuedCodes,
  newOrderId,
  payOrder,
  queryOrder,
  showOrder,
} from '../../../../ticketing/orders/index.ts'
import { offers } from '../../../test-plan/index.ts'
import { runOrderInput } from '../../order-input.ts'
import type { RunDeps } from '../../running-attempts.ts'
import type { StepContext } from '../../step-context.ts'
import { pollUntil } from '../../step-notices.ts'
import type { Order } from '../notice-body.ts'
import { defineRobustnessStep } from '../step.ts'
import { ASK_EVERY_MS, CREATE_CHECKS, createTestOrder } from '../test-order.ts'
import { checkSameVouchers } from '../vouchers.ts'

/** Querying an order that was never created has to fail, so that the platform knows it may create it. */
export const unknownOrder = defineRobustnessStep({
  id: 'unknown-order',
  kind: 'defence',
  expects: {},
  async perform(context) {
    const orderId = newOrderId(context.deps.config.ORDER_ID_BITS)
    await context.call('order-query', { orderId, partnerOrderId: '' }, { orderId, codes: 'failure', usual: [301] })
  },
})

/**
 * An order at an outdated price, after the same order at the right one: otherwise a refusal could be about something
 * else.
 */
export const priceChanged = defineRobustnessStep({
  id: 'price-changed',
  kind: 'defence',
  expects: CREATE_CHECKS,
  async perform(context) {
    const { main } = context.choice.products
    const right = await createTestOrder(context, 'price', main)
    context.beginTest()
    const prices = { unit_price: otherPrice(right.unit_price), buy_price: otherPrice(right.buy_price) }
    await createTestOrder(context, 'price', main, { codes: 'failure', usual: [410], prices })
  },
})

/** Half the price: too low is what costs the partner money. */
const otherPrice = (yuan: number): number => (yuan > 0.01 ? Math.floor(yuan * 50) / 100 : yuan + 1)

const AT_ONCE = 10

/** Ten simultaneous orders have to get ten different ids. */
export const ordersAtOnce = defineRobustnessStep({
  id: 'orders-at-once',
  kind: 'defence',
  expects: { 'order-state': 'error', 'distinct-orders': 'error' },
  async perform(context) {
    const first = await runOrderInput(context, 'parallel', context.choice.products.main, { quantity: 1 })
    const inputs = [first]
    while (inputs.length < AT_ONCE) inputs.push({ ...first, order_id: await context.newOrder('parallel') })
    context.beginTest()
    const { result: answers } = await context.operate('order-create', (deps) =>
      Promise.all(inputs.map((input) => createOrder(deps, input, context.cause, 'test-run'))),
    )
    const created = answers.map(({ order }) => order).filter(({ state }) => state === 'created')
    const other = answers.find(({ order }) => order.state !== 'created')?.order.state ?? 'created'
    await context.check('order-state', created.length === AT_ONCE, { expected: 'created', actual: other })
    const distinct = new Set(created.map(({ partner_order_id }) => partner_order_id)).size
    await context.check('distinct-orders', distinct === created.length, {
      path: 'body.partnerOrderId',
      expected: String(created.length),
      actual: String(distinct),
    })
    if (!offers(context.choice, 'order-close')) return
    // Frees the tickets, which later steps may need.
    for (const { order_id } of created) await context.prepare((deps) => closeOrder(deps, order_id, context.cause))
  },
})

/** Loses the responses to order create and order pay, then repeats both: one order, one set of tickets. */
export const lostAnswer = defineRobustnessStep({
  id: 'lost-answer',
  kind: 'defence',
  expects: { 'order-state': 'error', 'same-order': 'error', 'same-vouchers': 'error' },
  async perform(context) {
    const input = await runOrderInput(context, 'lost', context.choice.products.main)
    const orderId = input.order_id
    const create = (deps: RunDeps) => createOrder(deps, input, context.cause, 'test-run')
    context.beginTest()
    await context.loseAnswer('order-create', create)
    const { order } = (await context.operate('order-create', create)).result
    await context.require('order-state', order.state === 'created', { expected: 'created', actual: order.state })
    const again = await context.repeat('order-create', orderId)
    // Unknown after a lost response, if the response to order query did not name it.
    const expected = order.partner_order_id
    if (again.outcome === 'success' && expected !== null) {
      const actual = again.answer.body.partnerOrderId
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
  await pollUntil(
    context,
    ISSUED_WITHIN_S,
    async () => {
      const { result } = await context.operate('order-query', (deps) => queryOrder(deps, orderId, context.cause))
      // The payment never reached the partner.
      if (result.order.state === 'created') await context.operate('order-pay', pay, { codes: [200, 598] })
      return (await showOrder(context.deps, orderId)).order.state === 'paid'
    },
    ASK_EVERY_MS,
  )
  const { order } = await showOrder(context.deps, orderId)
  await context.require('order-state', order.state === 'paid', { expected: 'paid', actual: order.state })
  return order
}
