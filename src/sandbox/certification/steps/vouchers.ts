import { isDeepStrictEqual } from 'node:util'
import { localized } from '../../../platform/lib/localized-text.ts'
import { cutTo } from '../../../platform/lib/storable.ts'
import { issuedCodes, promisedCodes } from '../../../ticketing/orders/index.ts'
import type { AnswerOf } from '../../../ticketing/partner-calls/index.ts'
import { strictness } from '../../checks/index.ts'
import type { StepContext } from '../step-context.ts'
import type { Order } from './notice-body.ts'
import { defineStep } from './step.ts'
import { BUY_CHECKS, buyTestOrder, payTestOrder, unpaidOrder } from './test-order.ts'

/** voucherType of an order without codes. */
const NO_CODES = 0

/** Tickets are issued at once: the response is 200 and contains the vouchers. */
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
 * After a lost response the platform pays again and must get the same tickets. This step's order becomes the main one.
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

/** The partner has to report the order's own codes again. */
export async function checkSameVouchers(
  context: StepContext<'same-vouchers'>,
  { vouchers }: Order,
  reported: readonly { readonly voucher: string }[],
): Promise<void> {
  const { isSame, ...codes } = comparedCodes(vouchers, reported)
  await context.check('same-vouchers', isSame, { path: 'body.vouchers', ...codes })
}

const MAX_SHOWN = 500

type Codes = readonly { readonly voucher: string }[]

/** Compares two sets of codes, regardless of order and repetition; `expected` and `actual` are for display. */
function comparedCodes(issued: Codes, reported: Codes): { isSame: boolean; expected: string; actual: string } {
  const [expected, actual] = [differentCodes(issued), differentCodes(reported)]
  return { isSame: isDeepStrictEqual(expected, actual), expected: codesText(expected), actual: codesText(actual) }
}

const differentCodes = (codes: Codes): string[] => [...new Set(codes.map(({ voucher }) => voucher))].sort()

function codesText(codes: readonly string[]): string {
  const text = codes.join(', ') || '–'
  return text.length > MAX_SHOWN ? `${cutTo(text, MAX_SHOWN)}…` : text
}

/**
 * As many codes as voucherType promises: none, one per ticket or one per order. There may be documents besides, and
 * codes may follow later if the response says so.
 */
async function checkVouchers(
  context: StepContext<'vouchers'>,
  { quantity, vouchers: known }: Order,
  { body }: AnswerOf<'order-pay'>,
): Promise<void> {
  const { voucherType = NO_CODES, vouchers = [], asyReturnVoucher } = body
  const promised = promisedCodes(body, quantity) ?? 0
  // Documents may have codes even with voucherType 0.
  const reported = voucherType === NO_CODES ? new Set(vouchers).size : issuedCodes(body, quantity).length
  const given = asyReturnVoucher ? known.length : reported
  const duplicates = vouchers.length - new Set(vouchers).size
  await context.check('vouchers', given === promised && duplicates === 0, {
    path: 'body.vouchers',
    expected: localized('count-of-type', { count: String(promised), type: String(voucherType) }),
    actual:
      duplicates === 0
        ? String(given)
        : localized('different-ones', {
            count: String(vouchers.length),
            different: String(vouchers.length - duplicates),
          }),
  })
}

/** A code as the partner reports it. */
interface ReportedCode {
  readonly voucher: string
  readonly quantity: number
  /** 0 unused, 1 used, 2 refunded, 3 void. */
  readonly status: 0 | 1 | 2 | 3
}

interface Reported {
  readonly reported: readonly ReportedCode[]
  readonly used: number
  readonly voucherType?: number | undefined
}

const PATH = 'body.voucherList'
const USED = 1

/**
 * Order query has to report the issued codes, with as many of them used as usedQuantity says. With voucherType 0 it
 * need not list any.
 */
export async function checkReportedVouchers(
  context: StepContext<'voucher-list'>,
  { vouchers, quantity }: Order,
  { reported, used, voucherType }: Reported,
): Promise<void> {
  if (reported.length === 0 && voucherType === NO_CODES) return
  if (await lacksVouchers(context, vouchers.length > 0, reported.length)) return
  const { isSame, ...compared } = comparedCodes(vouchers, reported)
  if (!(await context.check('voucher-list', isSame, { path: PATH, ...compared }))) return
  const codes = reported.map((code) => ({ quantity: code.quantity, isUsed: code.status === USED }))
  await checkUsedVouchers(context, codes, { quantity, used })
}

/** The platform's own state of the codes, after a notice about used tickets. */
export async function checkKnownVouchers(context: StepContext<'voucher-list'>, order: Order): Promise<void> {
  const codes = order.vouchers.map(({ quantity, state }) => ({ quantity, isUsed: state === 'used' }))
  await checkUsedVouchers(context, codes, { quantity: order.quantity, used: order.used_quantity })
}

/** Makes a failed check if codes are required and none were reported. */
export async function lacksVouchers(
  context: StepContext<'voucher-list'>,
  required: boolean,
  reported: number,
): Promise<boolean> {
  if (!required || reported > 0) return false
  const level = strictness(context.partner.stage)
  const details = { level, path: PATH, expected: localized('required'), actual: localized('missing') }
  await context.check('voucher-list', false, details)
  return true
}

/**
 * A code for several people stays unused until the last of them has entered, and tickets without a code can be used
 * too, so the quantities of used codes may fall short of `used`, but never exceed it.
 */
async function checkUsedVouchers(
  context: StepContext<'voucher-list'>,
  codes: readonly { readonly quantity: number; readonly isUsed: boolean }[],
  { quantity, used }: { readonly quantity: number; readonly used: number },
): Promise<void> {
  if (codes.length === 0) return
  const sum = (some: typeof codes) => some.reduce((total, code) => total + code.quantity, 0)
  const marked = sum(codes.filter(({ isUsed }) => isUsed))
  const withoutCode = Math.max(0, quantity - sum(codes))
  const largest = Math.max(...codes.map((code) => code.quantity))
  await context.check('voucher-list', marked <= used && used - marked < largest + withoutCode, {
    path: `${PATH}[].status`,
    expected: localized('used-codes', { used: String(used) }),
    actual: localized('used-codes', { used: String(marked) }),
  })
}
