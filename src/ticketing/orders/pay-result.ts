import { type Deps, inTransaction } from '../../platform/deps.ts'
import { type Cause, countOrderMoves } from '../../platform/history/index.ts'
import { problemsText } from '../../platform/lib/json/shape.ts'
import { localized } from '../../platform/lib/localized-text.ts'
import { echo, RefusedRequest } from '../../platform/lib/web/rescode.ts'
import { codesOfFailure, type IssuedTickets } from '../interfaces/index.ts'
import { changeOrder, reopenPayment } from './change-order.ts'
import { ownOrder } from './consumption.ts'
import { illegalOrderTransition } from './errors.ts'
import { issueTickets, storeAdditional } from './issue-tickets.ts'
import { ASK_AGAIN_IN_S, dropQuery, queueQuery } from './order-jobs.ts'
import { lockOrder, type OrderRow, type VoucherRow, vouchersOf } from './order-store.ts'
import { foreignVoucher, takesCodes } from './quantities.ts'
import { codesNeeded, isRightCount, issuedCodes } from './reported-codes.ts'
import { ISSUED_STATES, type OrderState } from './states.ts'

/** The late result of order pay: the tickets, or why there are none. */
export interface PayResult {
  readonly orderId: bigint
  readonly partnerOrderId: string
  readonly outcome: 'issued' | 'failed'
  /** As received. */
  readonly issueType: number
  readonly code: number | undefined
  readonly describe: string
  readonly tickets: IssuedTickets
}

/** Codes from here on are failures; programs also send 0 and 1 where nothing went wrong. */
const FIRST_FAILURE = 300

const WAITING: readonly OrderState[] = ['paying', 'pay_unknown']
/** States in which no tickets were ever issued, so "failed" is no news. */
const NOT_ISSUED: readonly OrderState[] = ['created', 'pay_failed', 'closing', 'closed']

/**
 * Decides an order that waits for its tickets, even if the answer to order pay is still missing. The same result again
 * changes nothing. Issued tickets are not withdrawn: a failure after them is refused. Runs in the caller's transaction
 * if there is one.
 */
export async function applyPayResult(deps: Deps, partnerId: bigint, result: PayResult, cause: Cause): Promise<void> {
  await inTransaction(deps, async (inside, db) => {
    const order = ownOrder(await lockOrder(db, result.orderId), partnerId, result)
    const before = await vouchersOf(db, order.order_id)
    const apply = result.outcome === 'issued' ? issue : fail
    await apply(inside, order, before, result, cause)
  })
}

async function issue(
  deps: Deps,
  found: OrderRow,
  before: readonly VoucherRow[],
  { code, tickets, partnerOrderId }: PayResult,
  cause: Cause,
): Promise<void> {
  if (code !== undefined && code >= FIRST_FAILURE) {
    throw new RefusedRequest(localized('issued-and-failed', { code }))
  }
  const order = await reopenPayment(deps, found, cause)
  // An earlier failure may have been about another payment, and the tickets exist.
  const waits = WAITING.includes(order.state) || order.state === 'pay_failed'
  if (!waits && !ISSUED_STATES.includes(order.state)) throw illegalOrderTransition(order.order_id, order.state, 'paid')
  const fresh = checkCodes({ ...order, vouchers_open: order.vouchers_open || waits }, before, tickets)
  // These codes are known already.
  if (!waits && fresh.length === 0) return storeAdditional(deps, order, tickets)
  await issueTickets(deps, order, { ...tickets, partnerOrderId }, cause)
}

/** Checks that the codes are this order's and as many as voucherType promises; returns the new ones. */
function checkCodes(order: OrderRow, before: readonly VoucherRow[], tickets: IssuedTickets): string[] {
  const known = new Set(before.map(({ voucher }) => voucher))
  const reported = issuedCodes(tickets, order.quantity).map(({ voucher }) => voucher)
  const fresh = reported.filter((voucher) => !known.has(voucher))
  const [foreign] = fresh
  if (foreign !== undefined && !takesCodes(order, before)) throw foreignVoucher(order.order_id, foreign)
  const codes = known.size + fresh.length
  if (isRightCount(tickets, order.quantity, codes)) return fresh
  throw new RefusedRequest(codesNeeded(order, tickets, codes))
}

async function fail(
  deps: Deps,
  order: OrderRow,
  before: readonly VoucherRow[],
  { code, describe, issueType, tickets }: PayResult,
  cause: Cause,
): Promise<void> {
  if (NOT_ISSUED.includes(order.state)) return
  const { vouchers, credentialList } = tickets
  const codes = codesOfFailure({ vouchers, credentialList }, `issueType ${issueType}`)
  if (codes) throw new RefusedRequest(problemsText([codes]))
  if (!WAITING.includes(order.state)) throw illegalOrderTransition(order.order_id, order.state, 'pay_failed')
  const [issued] = before
  if (issued) {
    throw new RefusedRequest(localized('cannot-fail', { order: order.order_id, voucher: echo(issued.voucher) }))
  }
  // If the order was paid more than once, the partner is queried, because the notice may mean an earlier payment.
  const again = (await countOrderMoves(deps.db, order.order_id, { to: 'paying', notFrom: 'pay_unknown' })) > 1
  const failure = code !== undefined && code >= FIRST_FAILURE ? code : null
  const last_describe = echo(failure === null ? describe : `${failure}: ${describe}`)
  const state = again ? 'pay_unknown' : 'pay_failed'
  await changeOrder(deps, order, { state, last_code: failure, last_describe, vouchers_open: again }, cause)
  if (again) await queueQuery(deps, order, ASK_AGAIN_IN_S)
  else await dropQuery(deps.db, order.order_id)
}
