import { closeOrder, createOrder, newOrderId } from '../../../../ticketing/orders/index.ts'
import { offers } from '../../../test-plan/index.ts'
import { runOrderInput } from '../../order-input.ts'
import { defineStep } from '../step.ts'
import { CREATE_CHECKS, createTestOrder } from '../test-order.ts'

/** An order that was never made is a failure, so that the platform knows that it may create it. */
export const unknownOrder = defineStep({
  id: 'unknown-order',
  kind: 'defence',
  needs: ['robustness'],
  expects: {},
  advisory: true,
  async perform(context) {
    const orderId = newOrderId(context.deps.config.ORDER_ID_BITS)
    await context.call('order-query', { orderId, partnerOrderId: '' }, { orderId, codes: 'failure', usual: [301] })
  },
})

/**
 * The customer has looked at an old calendar. The same order at the right price is made before: a partner that refuses
 * both has not compared prices.
 */
export const priceChanged = defineStep({
  id: 'price-changed',
  kind: 'defence',
  needs: ['robustness'],
  expects: CREATE_CHECKS,
  advisory: true,
  async perform(context) {
    const { main } = context.choice.products
    const right = await createTestOrder(context, 'price', main)
    context.beginTest()
    const prices = { unit_price: otherPrice(right.unit_price), buy_price: otherPrice(right.buy_price) }
    await createTestOrder(context, 'price', main, { codes: 'failure', usual: [410], prices })
  },
})

/** Half of it: a lower price is the one that costs the partner money. */
const otherPrice = (yuan: number): number => (yuan > 0.01 ? Math.floor(yuan * 50) / 100 : yuan + 1)

const AT_ONCE = 10

/** Ten customers at the same moment are ten orders, each with an id of its own. */
export const ordersAtOnce = defineStep({
  id: 'orders-at-once',
  kind: 'defence',
  needs: ['robustness'],
  expects: { 'order-state': 'error', 'distinct-orders': 'error' },
  advisory: true,
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
    // So that they hold no tickets which a later step may need.
    for (const { order_id } of created) await context.prepare((deps) => closeOrder(deps, order_id, context.cause))
  },
})
