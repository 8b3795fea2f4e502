import type { BatchedWork } from '../db/batch.ts'
import type { Db } from '../db/sql.ts'
import { RefusedRequest } from '../lib/web/rescode.ts'
import { WARNINGS } from '../mws/index.ts'
import { bodyRejected, type CallRejected } from '../mws-wire/index.ts'
import { type ConsumptionReport, type LockedOrders, lockReported } from '../orders/index.ts'
import type { PartnerWithSecrets } from '../partners/index.ts'
import { claimNotices, firstAnswers, type NoticeRow } from './store.ts'

/** Order notices are cumulative, so a day is safe for them; their business keys do not expire. */
export const ORDER_NOTICE_REPEAT_S = 86_400

interface Consumption {
  readonly row: NoticeRow
  readonly report: ConsumptionReport
  readonly stage: PartnerWithSecrets['stage']
}

/** The response, and for a new notice the changes and warnings. */
type Decision =
  | { readonly answer: string; readonly news?: NoticeRow; readonly save?: ReturnType<LockedOrders['decide']> }
  | { readonly refusal: CallRejected }

/**
 * Consumption notices that arrive while others commit share a transaction. It locks their orders before it looks for
 * repeats, so no other transaction can change one of them meanwhile; it decides each notice separately; refused ones
 * leave no trace. Of two notices about one order the second waits for the first one's commit. One whose order is locked
 * elsewhere, or does not exist, is processed separately, so that it does not delay the others.
 *
 * Other notices are claimed first. These are not: PostgreSQL can skip an order that is locked, but not a notice that
 * another process is claiming. If that process waits for the order, a repeat of the notice would delay all that share
 * its transaction; and the claims of refused notices would have to be taken back one by one.
 */
const consumptions: BatchedWork<Db, Consumption, Decision> = {
  key: ({ report }) => String(report.orderId),
  duplicates: 'serialize',
  work: async (db, items) => {
    const reports = items.map(({ report }) => report)
    const rows = items.map(({ row }) => row)
    // Sent together and run in this sequence, so that everything is read under the locks.
    const [orders, known] = await Promise.all([
      lockReported(db, reports),
      firstAnswers(db, rows, ORDER_NOTICE_REPEAT_S),
    ])
    const decisions = items.map((item, place): Decision | undefined => {
      const answer = known.get(place)
      if (answer !== undefined) return { answer }
      if (items.length > 1 && !orders.has(item.report.orderId)) return undefined
      return unlessRefused(() => decide(orders, item))
    })
    const written = decisions.flatMap((decision) => (decision && 'answer' in decision ? decision : []))
    const news = written.flatMap((decision) => decision.news ?? [])
    const saves = written.flatMap(({ save }) => save ?? [])
    await Promise.all([
      news.length > 0 && claimNotices(db, news, ORDER_NOTICE_REPEAT_S),
      saves.length > 0 && orders.save(saves),
    ])
    return decisions
  },
}

function decide(orders: LockedOrders, { row, report, stage }: Consumption): Decision {
  const at = { cause: { kind: 'notice', id: row.noticeId }, now: row.receivedAt } as const
  const save = orders.decide(row.partnerId, report, at)
  if (!orders.lacksVoucherList(report)) return { answer: row.answer, news: row, save }
  if (stage === 'sandbox') {
    throw new RefusedRequest(`body.voucherList is required: order ${report.orderId} has one code per ticket`)
  }
  const warnings = [...row.warnings, WARNINGS.voucherListMissing.name]
  return { answer: row.answer, news: { ...row, warnings }, save }
}

function unlessRefused(decide: () => Decision): Decision {
  try {
    return decide()
  } catch (error) {
    if (error instanceof RefusedRequest) return { refusal: bodyRejected(error.describe) }
    throw error
  }
}

export interface TakenConsumption {
  /** A repeated notice gets the first response. */
  readonly answer: string
  /** Names of its warnings; none for a repeated notice. */
  readonly warnings: readonly string[]
}

/** Receipt and effect are committed together before the response. */
export async function takeConsumption(
  db: Db,
  row: NoticeRow,
  report: ConsumptionReport,
  stage: Consumption['stage'],
): Promise<TakenConsumption> {
  const decision = await db.batchWork(consumptions, { row, report, stage })
  if ('refusal' in decision) throw decision.refusal
  return { answer: decision.answer, warnings: decision.news?.warnings ?? [] }
}
