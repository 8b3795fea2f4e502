import { localized } from '../../../platform/lib/localized-text.ts'
import { issuedCodes, promisedCodes } from '../../../ticketing/orders/index.ts'
import type { AnswerOf } from '../../../ticketing/partner-calls/index.ts'
import type { StepContext } from '../step-context.ts'
import { defineStep } from './step.ts'
import { BUY_CHECKS, buyTestOrder, payTestOrder, unpaidOrder } from './test-order.ts'
import type { Order } from './wanted-notice.ts'

/** voucherType of order pay. */
const NONE = 0

/** Tickets are issued at once: the answer is 200 and has the vouchers. */
export const orderPay = defineStep({
  id: 'order-pay',
  kind: 'call',
  needs: ['pay-at-once'],
  expects: { ...BUY_CHECKS, vouchers: 'error' },
  async perform(context) {
    const { order, answer } = await payTestOrder(context, await unpaidOrder(context), { codes: [200] })
    if (answer) await checkVouchers(context, order, answer)
  },
})

/**
 * After a lost answer the platform pays again and must get the same tickets, not new ones. The step makes an order of
 * its own, which is the main one from then on.
 */
export const orderPayAgain = defineStep({
  id: 'order-pay-again',
  kind: 'defence',
  needs: [],
  expects: { ...BUY_CHECKS, 'same-vouchers': 'error' },
  async perform(context) {
    const order = await buyTestOrder(context, 'main', context.choice.products.main)
    const again = await context.repeat('order-pay', order.order_id)
    if (again.outcome !== 'success') return
    await checkSameVouchers(context, order, issuedCodes(again.answer.body, order.quantity))
  },
})

/** The codes that the partner reports again are those of the order. */
export async function checkSameVouchers(
  context: StepContext<'same-vouchers'>,
  { vouchers }: Order,
  reported: readonly { readonly voucher: string }[],
): Promise<void> {
  const [expected, actual] = [vouchers, reported].map((codes) => sorted(codes.map(({ voucher }) => voucher)))
  await context.check('same-vouchers', actual === expected, {
    path: 'body.vouchers',
    expected: startOf(expected) || '–',
    actual: startOf(actual) || '–',
  })
}

const MAX_SHOWN = 500

/** Characters of a list of codes that are shown. */
const startOf = (text = ''): string => (text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text)

const sorted = (vouchers: readonly string[]): string => [...new Set(vouchers)].sort().join(', ')

/**
 * As many different codes as voucherType says: none, one a ticket, or one an order. Documents may come beside them, and
 * codes may come later if the answer says so.
 */
async function checkVouchers(
  context: StepContext<'vouchers'>,
  { quantity, vouchers: known }: Order,
  { body }: AnswerOf<'order-pay'>,
): Promise<void> {
  const { voucherType = NONE, vouchers = [], asyReturnVoucher } = body
  const wanted = promisedCodes(body, quantity) ?? 0
  // With voucherType 0 documents may still have codes.
  const reported = voucherType === NONE ? new Set(vouchers).size : issuedCodes(body, quantity).length
  const given = asyReturnVoucher ? known.length : reported
  const doubled = vouchers.length - new Set(vouchers).size
  await context.check('vouchers', given === wanted && doubled === 0, {
    path: 'body.vouchers',
    expected: localized('count-of-type', { count: String(wanted), type: String(voucherType) }),
    actual:
      doubled === 0
        ? String(given)
        : localized('different-ones', { count: String(vouchers.length), different: String(vouchers.length - doubled) }),
  })
}
