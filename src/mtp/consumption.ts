import type { BatchedWork } from '../db/batch.ts'
import type { Db } from '../db/sql.ts'
import {
  type ConsumptionReport,
  decideConsumption,
  isWithoutVoucherList,
  type LockedOrders,
  lockReported,
  saveConsumptions,
} from '../orders/consumption.ts'
import { RefusedRequest } from '../partner-calls/errors.ts'
import type { PartnerWithSecrets } from '../registry/partner.ts'
import { WARNINGS } from './diagnose/warnings.ts'
import { bodyRejected, type CallRejected } from './errors.ts'
import { claimNotices, firstAnswers, type NoticeRow } from './store.ts'

/** Order notices are cumulative, so a day is safe for them, and their business keys hold for ever. */
export const ORDER_NOTICE_REPEAT_S = 86_400

interface Consumption {
  readonly row: NoticeRow
  readonly report: ConsumptionReport
  readonly stage: PartnerWithSecrets['stage']
}

/** What to answer, and for a notice that is news, what to write and what to warn about. */
type Decision =
  | { readonly answer: string; readonly news?: NoticeRow; readonly save?: ReturnType<typeof decideConsumption> }
  | { readonly refusal: CallRejected }

/**
 * Consumption notices that arrive while others commit share a transaction. It locks their orders before it looks for
 * repeats, so nobody else can take one of them meanwhile; it decides each by itself; what was refused leaves nothing
 * behind. Of two notices about one order the second waits for the first one's commit. One whose order somebody holds,
 * or that nobody has, is done by itself, so it holds up no other.
 */
const consumptions: BatchedWork<Db, Consumption, Decision> = {
  key: ({ report }) => String(report.orderId),
  duplicates: 'serialize',
  work: async (db, items) => {
    const reports = items.map(({ report }) => report)
    const rows = items.map(({ row }) => row)
    // Sent together and done in this order: what is read is read under the locks.
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
      saves.length > 0 && saveConsumptions(db, saves),
    ])
    return decisions
  },
}

function decide(orders: LockedOrders, { row, report, stage }: Consumption): Decision {
  const at = { cause: { kind: 'notice', id: row.noticeId }, now: row.receivedAt } as const
  const save = decideConsumption(orders, row.partnerId, report, at)
  if (!isWithoutVoucherList(orders, report)) return { answer: row.answer, news: row, save }
  if (stage === 'sandbox') {
    throw new RefusedRequest(`body.voucherList is required: order ${report.orderId} has one code a ticket`)
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
  /** The same notice again gets the first one. */
  readonly answer: string
  /** Names of what it was taken with all the same; none for a notice that came before. */
  readonly warnings: readonly string[]
}

/** Receipt and effect commit together before the answer is there. */
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
