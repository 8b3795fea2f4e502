import type { HistoryRow } from '../../platform/history/index.ts'
import type { OutputOf } from '../../platform/lib/json/input.ts'
import { stringifyLossless } from '../../platform/lib/json/lossless.ts'
import type { createOrder, showOrder } from '../../ticketing/orders/index.ts'
import type { CallProblem } from '../../ticketing/partner-calls/index.ts'
import { aligned, printable, readable } from './text.ts'

type OrderResult = OutputOf<typeof createOrder>
type Voucher = OrderResult['order']['vouchers'][number]

/** What went wrong, as lines below what an operation shows. */
export function failureText(failure: CallProblem | null): string[] {
  if (!failure) return []
  const advice = failure.maybe_received ? 'the partner may have acted on it' : 'nothing has reached the partner'
  const problems = (failure.problems ?? []).map(({ path, problem }) => [`  ${path}`, String(problem)])
  const why = failure.kind === 'partner-code' ? 'the partner refused' : advice
  return [
    '',
    `The call failed: ${failure.kind} (${why})`,
    `  ${printable(String(failure.detail))}`,
    ...(problems.length > 1 ? [aligned(problems)] : []),
  ]
}

/** `used  × 1`; of a code for several tickets also how many of them. */
function voucherText({ state, quantity, used_quantity: used, refunded_quantity: refunded }: Voucher): string {
  const counts = quantity > 1 ? `  (${used} used, ${refunded} refunded)` : ''
  return `${state}  × ${quantity}${counts}`
}

/** One line per field, then vouchers, refunds and what else the partner sent. */
function orderText(shown: OrderResult['order']): string {
  const { vouchers, refunds, voucher_additional, order_additional, additional_left_out, ...order } = shown
  const fields = Object.entries(order).map(([field, value]) => [field, readable(value)])
  const codes = vouchers.map((voucher) => ['voucher', `${voucher.voucher}  ${voucherText(voucher)}`])
  const backs = refunds.map(({ refund_id, state, refund_quantity, reason }) => [
    'refund',
    `${refund_id}  ${state}  × ${refund_quantity}${reason ? `  ${reason}` : ''}`,
  ])
  const additional = [
    ...voucher_additional.map((entry) => ['voucher_additional', stringifyLossless([entry]).slice(1, -1)]),
    ...order_additional.map((entry) => ['order_additional', stringifyLossless([entry]).slice(1, -1)]),
    ...(additional_left_out > 0 ? [['additional_left_out', String(additional_left_out)]] : []),
  ]
  return aligned([...fields, ...codes, ...backs, ...additional])
}

export const answerText = ({ order, failure }: OrderResult): string =>
  [orderText(order), ...failureText(failure)].join('\n')

/** `at  cause  record  field before → after …`, oldest first. */
export function historyText(history: readonly HistoryRow[]): string {
  if (history.length === 0) return 'no history'
  const rows = history.map(({ at, cause, record, record_id, change }) => [
    readable(at),
    cause,
    record,
    record === 'order' ? '' : record_id,
    Object.entries(change)
      .map(([field, [before, after]]) => `${field} ${brief(before)} → ${brief(after)}`)
      .join(', '),
  ])
  return aligned([['AT', 'CAUSE', 'RECORD', 'ID', 'CHANGE'], ...rows])
}

const brief = (value: unknown): string => {
  const text = typeof value === 'string' || value === null ? readable(value) : (JSON.stringify(value) ?? '-')
  return text.length > 60 ? `${text.slice(0, 59)}…` : text
}

/** The order with everything that happened to it. */
export function storyText({ order, history, calls }: OutputOf<typeof showOrder>): string {
  const rows = calls.map((call) => [
    readable(call.started_at),
    call.interface,
    `${call.duration_ms} ms`,
    readable(call.http_status),
    readable(call.code),
    call.failure ? `${call.failure}: ${call.failure_detail}` : '-',
  ])
  return [
    orderText(order),
    '',
    historyText(history),
    ...(rows.length > 0 ? ['', aligned([['AT', 'CALL', 'TOOK', 'HTTP', 'CODE', 'FAILURE'], ...rows])] : []),
  ].join('\n')
}
