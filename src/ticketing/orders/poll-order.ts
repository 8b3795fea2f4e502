import { CALL_TIMES } from '../../platform/config/call-limits.ts'
import type { Deps } from '../../platform/deps.ts'
import { addSeconds, fullJitter, secondsUntil } from '../../platform/lib/clock.ts'
import { maskedReason } from '../../platform/lib/masked-reason.ts'
import type { CallCause, CallDeps, CallProblem } from '../partner-calls/index.ts'
import { closeOrder } from './close-order.ts'
import { ISSUING, isInFlight, isRefundInFlight, type OpenPart, queueQuery } from './order-jobs.ts'
import { existingOrder } from './order-result.ts'
import type { OrderRow } from './order-store.ts'
import { queryOrder } from './query-order.ts'
import { isLostRefund, refundOrder } from './refund-order.ts'
import { refundsOf } from './refund-store.ts'
import type { OrderState } from './states.ts'

const OPEN: readonly OrderState[] = ['creating', 'create_unknown', 'paying', 'pay_unknown', 'closing']
const FIRST_PAUSE_S = 4
const LONGEST_PAUSE_S = 600
const LONGEST_S = 86_400

interface Polled {
  /** Failed, to be repeated as the queue does. */
  readonly failure?: string | null
  readonly givenUp: string | null
}

/**
 * Asks the partner about what is open and, while it stays open, queues the next time: soon at first, then up to ten
 * minutes apart. After a day it is left to operators, as `givenUp` says; then nothing may be queued, or the queue would
 * forget the job that gives up. An order is queried, and closed again if it is
 * closing; a refund is sent again if the query does not decide it.
 */
export const pollOrder = (
  deps: CallDeps,
  orderId: bigint,
  { asked, about }: { readonly asked: number; readonly about: OpenPart },
  cause: CallCause,
): Promise<Polled> =>
  about === 'refunds' ? pollRefunds(deps, orderId, asked, cause) : pollOpenOrder(deps, orderId, asked, cause)

async function pollOpenOrder(deps: CallDeps, orderId: bigint, asked: number, cause: CallCause): Promise<Polled> {
  const earlier = await existingOrder(deps, orderId)
  // A consumption notice has decided the order, but the codes of the lost answer are still missing.
  const lacksCodes = earlier.state === 'paid' && earlier.vouchers_open
  if (!isOpen(earlier) && !lacksCodes) return { givenUp: null }
  if (isInFlight(deps, earlier)) {
    await queueQuery(deps, earlier, secondsUntilOver(deps, earlier.state_since), { asked })
    return { givenUp: null }
  }
  const ask = earlier.state === 'closing' ? closeOrder : queryOrder
  const { order, failure } = await ask(deps, orderId, cause)
  if (!isOpen(order)) return { failure: lacksCodes && failure ? reasonOf(failure) : null, givenUp: null }
  if (isOld(deps, order.state_since))
    return givenUp(`order ${orderId} has been ${order.state}${lacksCodes ? ' without codes' : ''} for a day`, failure)
  await queueQuery(deps, earlier, pauseAfter(asked), { asked: asked + 1 })
  return { givenUp: null }
}

async function pollRefunds(deps: CallDeps, orderId: bigint, asked: number, cause: CallCause): Promise<Polled> {
  const about = 'refunds'
  const order = await existingOrder(deps, orderId)
  const lost = (await refundsOf(deps.db, orderId)).filter(isLostRefund)
  const inFlight = lost.find((refund) => isRefundInFlight(deps, refund))
  if (inFlight) {
    await queueQuery(deps, order, secondsUntilOver(deps, inFlight.updated_at), { asked, about })
    return { givenUp: null }
  }
  let failure: CallProblem | null = null
  for (const { refund_id } of lost) {
    const again = { order_id: orderId, refund_id, vouchers: [], refund_fee: 0, partly: true }
    failure = (await refundOrder(deps, again, cause)).failure ?? failure
  }
  const open = (await refundsOf(deps.db, orderId)).filter(isLostRefund)
  const [first] = open
  if (!first) return { givenUp: null }
  if (open.every(({ created_at }) => isOld(deps, created_at)))
    return givenUp(`refund ${first.refund_id} has been ${first.state} for a day`, failure)
  await queueQuery(deps, order, pauseAfter(asked), { asked: asked + 1, about })
  return { givenUp: null }
}

/** Also a paid order whose codes the partner is still issuing. */
const isOpen = ({ state, last_code }: Pick<OrderRow, 'state' | 'last_code'>): boolean =>
  OPEN.includes(state) || (state === 'paid' && last_code === ISSUING)

const pauseAfter = (asked: number): number => fullJitter(asked, FIRST_PAUSE_S, LONGEST_PAUSE_S)

const secondsUntilOver = ({ clock }: Deps, since: Date): number =>
  secondsUntil(addSeconds(since, CALL_TIMES.overS), clock.now())

const isOld = ({ clock }: Deps, since: Date): boolean => clock.now() >= addSeconds(since, LONGEST_S)

/** Viewers can read the errors of jobs, so what the partner wrote is masked; Traffic has it. */
const reasonOf = ({ kind, detail }: CallProblem): string => `${kind}: ${maskedReason(detail)}`

const givenUp = (what: string, failure: CallProblem | null): Polled => ({
  givenUp: failure ? `${what}; the last query failed with ${reasonOf(failure)}` : what,
})
