import { localized } from '../../../platform/lib/localized-text.ts'
import { strictness } from '../../checks/index.ts'
import type { StepContext } from '../step-context.ts'
import type { Order } from './wanted-notice.ts'

/** What a partner says about the codes of an order. */
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

/** voucherType of an order without codes. */
const NO_CODES = 0

/**
 * The codes in the answer of an order query: those that were issued, and as many of them used as usedQuantity says. An
 * answer that says voucherType 0 need not list any.
 */
export async function checkReportedVouchers(
  context: StepContext<'voucher-list'>,
  { vouchers, quantity }: Order,
  { reported, used, voucherType }: Reported,
): Promise<void> {
  if (reported.length === 0 && voucherType === NO_CODES) return
  if (await lacksVouchers(context, vouchers.length > 0, reported.length)) return
  const [issued, named] = [vouchers, reported].map((codes) => new Set(codes.map(({ voucher }) => voucher)))
  const isSame = issued?.size === named?.size && reported.every(({ voucher }) => issued?.has(voucher))
  const details = { path: PATH, expected: codesText(issued), actual: codesText(named) }
  if (!(await context.check('voucher-list', isSame, details))) return
  const codes = reported.map((code) => ({ quantity: code.quantity, isUsed: code.status === USED }))
  await checkUsedVouchers(context, codes, { quantity, used })
}

/** What the platform knows of the codes after a notice that says that so many tickets are used. */
export async function checkKnownVouchers(context: StepContext<'voucher-list'>, order: Order): Promise<void> {
  const codes = order.vouchers.map(({ quantity, state }) => ({ quantity, isUsed: state === 'used' }))
  await checkUsedVouchers(context, codes, { quantity: order.quantity, used: order.used_quantity })
}

/** Writes a failed check if codes are required and there are none. */
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
 * A code for several people stays unused until the last of them has come; no code is used before anybody has. Tickets
 * without a code are used all the same.
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

const MAX_SHOWN = 500

const codesText = (codes: ReadonlySet<string> = new Set()): string => {
  const text = [...codes].sort().join(', ') || '–'
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text
}
