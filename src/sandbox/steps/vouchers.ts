import { offers } from '../choice.ts'
import type { Scene } from '../scene.ts'
import type { Step } from './step.ts'
import { buyTestOrder, payTestOrder, unpaidOrder } from './test-order.ts'

/** voucherType of order pay: how many codes there have to be. */
const NONE = 0
const ONE_A_TICKET = 1

/** Issued at once: the answer is 200 and brings the vouchers. */
export const orderPay: Step = {
  id: 'order-pay',
  name: 'sandbox.step.order_pay.name',
  todo: 'sandbox.step.order_pay.todo',
  kind: 'call',
  needs: (choice) => offers(choice, 'pay-at-once'),
  checks: ['order-state', 'vouchers'],
  async perform(scene) {
    const orderId = await unpaidOrder(scene)
    const { quantity } = await payTestOrder(scene, orderId, { codes: [200] })
    await checkVouchers(scene, orderId, quantity)
  },
}

/**
 * After a lost answer the platform pays again: no second set of tickets, but the same ones. With an order of its own, the
 * main one from then on.
 */
export const orderPayAgain: Step = {
  id: 'order-pay-again',
  name: 'sandbox.step.order_pay_again.name',
  todo: 'sandbox.step.order_pay_again.todo',
  kind: 'defence',
  needs: () => true,
  checks: ['same-vouchers'],
  async perform(scene) {
    const order = await buyTestOrder(scene, 'main', scene.choice.products.main)
    const again = await scene.repeat('order-pay', order.order_id)
    if (again.outcome !== 'success') return
    const [expected, actual] = [order.vouchers.map(({ voucher }) => voucher), again.answer.body.vouchers ?? []].map(
      sorted,
    )
    await scene.check('same-vouchers', actual === expected, {
      path: 'body.vouchers',
      expected: expected || '–',
      actual: actual || '–',
    })
  },
}

const sorted = (vouchers: readonly string[]): string => [...new Set(vouchers)].sort().join(', ')

/** As many different codes as voucherType says: none, one a ticket, or one an order. */
async function checkVouchers(scene: Scene, orderId: bigint, quantity: number): Promise<void> {
  const answer = await scene.answerAbout('order-pay', orderId)
  if (!answer) return
  const { voucherType, vouchers = [] } = answer.body
  const wanted = voucherType === NONE ? 0 : voucherType === ONE_A_TICKET ? quantity : 1
  const given = new Set(vouchers).size
  await scene.check('vouchers', given === wanted && vouchers.length === wanted, {
    path: 'body.vouchers',
    expected: `${wanted} (voucherType ${voucherType})`,
    actual: given === vouchers.length ? String(given) : `${vouchers.length}, of which ${given} differ`,
  })
}
