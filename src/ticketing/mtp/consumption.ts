import type { BatchedWork } from '../../platform/db/batch.ts'
import type { Db } from '../../platform/db/sql.ts'
import type { OutputOf } from '../../platform/lib/json/input.ts'
import { localized } from '../../platform/lib/localized-text.ts'
import { RefusedRequest } from '../../platform/lib/web/rescode.ts'
import { bodyRejected, type CallRejected } from '../mws-wire/index.ts'
import { type ConsumptionReport, decideConsumption, lockReported, saveOrders } from '../orders/index.ts'
import type { PartnerWithSecrets } from '../partners/index.ts'
import { type AcceptedNotice, ORDER_REPEAT_S } from './accept-once.ts'
import { claimNotices, firstAnswers, type NoticeRow, type RememberedAnswer, withWarning } from './store.ts'

interface Consumption {
  readonly row: NoticeRow
  readonly report: ConsumptionReport
  readonly stage: PartnerWithSecrets['stage']
}

/** The first answer to a repeated notice; a new notice and its changes; or why it is rejected. */
type Decision =
  | { readonly first: RememberedAnswer }
  | { readonly claimed: NoticeRow; readonly save: ReturnType<typeof decideConsumption>['save'] }
  | { readonly rejected: CallRejected }

/**
 * Consumption notices that arrive while others commit share a transaction. It locks their orders before it looks for
 * repeats, so no other transaction can change one of them meanwhile, and decides each notice separately; rejected ones
 * leave no trace. Of two notices about one order the second waits for the first one's commit. A notice whose order is
 * locked elsewhere, or does not exist, gets a transaction of its own, so that it does not delay the others.
 *
 * Unlike other notices, these are claimed last. PostgreSQL can skip a locked order, but not a notice that another
 * process is claiming: while that process waits for the order, a repeat would delay everything in its transaction. And
 * the claims of rejected notices would have to be undone one by one.
 */
const consumptions: BatchedWork<Db, Consumption, Decision> = {
  key: ({ report }) => String(report.orderId),
  duplicates: 'serialize',
  work: async (db, items) => {
    const reports = items.map(({ report }) => report)
    const rows = items.map(({ row }) => row)
    // Pipelined, and run in this order: repeats are looked up under the locks.
    const [orders, known] = await Promise.all([lockReported(db, reports), firstAnswers(db, rows, ORDER_REPEAT_S)])
    const decisions = items.map((item, place): Decision | undefined => {
      const first = known.get(place)
      if (first !== undefined) return { first }
      if (items.length > 1 && !orders.has(item.report.orderId)) return undefined
      return orRejected(() => decide(orders, item))
    })
    const accepted = decisions.flatMap((decision) => (decision && 'claimed' in decision ? decision : []))
    const claimed = accepted.map((decision) => decision.claimed)
    const saves = accepted.flatMap(({ save }) => save ?? [])
    await Promise.all([
      claimed.length > 0 && claimNotices(db, claimed, ORDER_REPEAT_S),
      saves.length > 0 && saveOrders(db, saves),
    ])
    return decisions
  },
}

function decide(orders: OutputOf<typeof lockReported>, { row, report, stage }: Consumption): Decision {
  const at = { cause: { kind: 'notice', id: row.noticeId }, now: row.receivedAt } as const
  const { save, lacksCodes } = decideConsumption(orders, row.partnerId, report, at)
  if (!lacksCodes) return { claimed: row, save }
  if (stage === 'sandbox') {
    throw new RefusedRequest(localized('voucher-list-required', { order: report.orderId }))
  }
  return { claimed: withWarning(row, 'voucher-list-missing'), save }
}

function orRejected(decide: () => Decision): Decision {
  try {
    return decide()
  } catch (error) {
    if (error instanceof RefusedRequest) return { rejected: bodyRejected(error.describe) }
    throw error
  }
}

/** Commits receipt and effect together, before the response. */
export async function acceptConsumption(
  db: Db,
  row: NoticeRow,
  report: ConsumptionReport,
  stage: Consumption['stage'],
): Promise<AcceptedNotice & Pick<NoticeRow, 'warnings'>> {
  const decision = await db.batchWork(consumptions, { row, report, stage })
  if ('rejected' in decision) throw decision.rejected
  if ('first' in decision) return { ...decision.first, isRepeat: true, warnings: [] }
  const { noticeId, answer, warnings } = decision.claimed
  return { noticeId, answer, isRepeat: false, warnings }
}
