import { issuedCodes, promisedCodes } from '../../orders/reported-codes.ts'
import { offers } from '../choice.ts'
import type { Scene } from '../scene.ts'
import type { Step } from './step.ts'
import { buyTestOrder, type Order, payTestOrder, unpaidOrder } from './test-order.ts'

/** voucherType of order pay. */
const NONE = 0

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
    await checkVouchers(scene, await payTestOrder(scene, orderId, { codes: [200] }))
  },
}

const LARGE_ID_BITS = 63

/**
 * After a lost answer the platform pays again: no second set of tickets, but the same ones. With an order of its own, the
 * main one from then on. Its id is beyond 2^53 whatever ORDER_ID_BITS says: a program that reads ids as doubles cannot
 * give it back, neither here nor in its notices.
 */
export const orderPayAgain: Step = {
  id: 'order-pay-again',
  name: 'sandbox.step.order_pay_again.name',
  todo: 'sandbox.step.order_pay_again.todo',
  kind: 'defence',
  needs: () => true,
  checks: ['same-vouchers'],
  async perform(scene) {
    const order = await buyTestOrder(scene, 'main', scene.choice.products.main, { idBits: LARGE_ID_BITS })
    const again = await scene.repeat('order-pay', order.order_id)
    if (again.outcome !== 'success') return
    const told = issuedCodes(again.answer.body, order.quantity)
    const [expected, actual] = [order.vouchers, told].map((codes) => sorted(codes.map(({ voucher }) => voucher)))
    await scene.check('same-vouchers', actual === expected, {
      path: 'body.vouchers',
      expected: startOf(expected) || '–',
      actual: startOf(actual) || '–',
    })
  },
}

const MOST_SHOWN = 500

/** A thousand codes say no more than the first of them. */
const startOf = (text = ''): string => (text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}…` : text)

const sorted = (vouchers: readonly string[]): string => [...new Set(vouchers)].sort().join(', ')

/**
 * As many different codes as voucherType says: none, one a ticket, or one an order. They may stand beside documents, or
 * have come since, where the answer says so.
 */
async function checkVouchers(scene: Scene, { order_id, quantity, vouchers: known }: Order): Promise<void> {
  const answer = await scene.answerAbout('order-pay', order_id)
  if (!answer) return
  const { voucherType = NONE, vouchers = [], asyReturnVoucher } = answer.body
  const wanted = promisedCodes(answer.body, quantity) ?? 0
  // Documents may have codes where the tickets have none.
  const told = voucherType === NONE ? new Set(vouchers).size : issuedCodes(answer.body, quantity).length
  const given = asyReturnVoucher ? known.length : told
  const doubled = vouchers.length - new Set(vouchers).size
  await scene.check('vouchers', given === wanted && doubled === 0, {
    path: 'body.vouchers',
    expected: `${wanted} (voucherType ${voucherType})`,
    actual: doubled === 0 ? String(given) : `${vouchers.length}, of which ${vouchers.length - doubled} differ`,
  })
}
