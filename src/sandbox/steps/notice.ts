import { parseLossless } from '../../lib/lossless.ts'
import { showOrder } from '../../ticketing/show-order.ts'
import type { Step } from './step.ts'

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
    const { quantity } = (await showOrder(scene.deps, orderId)).order
    await scene.notice({
      path: '/mtp/api/order/consume/notice',
      about: { orderId: String(orderId), quantity: String(quantity), usedQuantity: String(quantity) },
      isIt: (body) => orderIdIn(body) === String(orderId),
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

/** What a notice's body says which order it is about; undefined when it does not. */
function orderIdIn(text: string): string | undefined {
  const parsed = parseLossless(Buffer.from(text))
  if (!('value' in parsed)) return undefined
  const { body } = parsed.value as { body?: { orderId?: unknown } }
  return body?.orderId === undefined ? undefined : String(body.orderId)
}
