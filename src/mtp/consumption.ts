import type { GatheredWork } from '../db/gather.ts'
import type { Db } from '../db/sql.ts'
import { type ConsumptionReport, decideConsumption, lockReported, saveConsumptions } from '../ticketing/consumption.ts'
import { TicketingRefusal } from '../ticketing/report.ts'
import { bodyRejected, type CallRejected } from './errors.ts'
import { claimNotices, firstAnswers, type NoticeRow } from './store.ts'

/** Order notices are cumulative, so a day is safe for them, and their business keys hold for ever. */
export const ORDER_NOTICE_REPEAT_S = 86_400

interface Consumption {
  readonly row: NoticeRow
  readonly report: ConsumptionReport
}

/** What to answer, and for a notice that is news, what to write. */
type Decision =
  | { readonly answer: string; readonly news?: NoticeRow; readonly save?: ReturnType<typeof decideConsumption> }
  | { readonly refusal: CallRejected }

/**
 * Consumption notices that arrive while others commit share a transaction. It locks their orders before it looks for
 * repeats, so nobody else can take one of them meanwhile; it decides each by itself; what was refused leaves nothing
 * behind. Of two notices about one order the second waits for the first one's commit. One whose order somebody holds,
 * or that nobody has, is done by itself, so it holds up no other.
 */
const consumptions: GatheredWork<Db, Consumption, Decision> = {
  key: ({ report }) => String(report.orderId),
  same: 'apart',
  work: async (db, items) => {
    const reports = items.map(({ report }) => report)
    const rows = items.map(({ row }) => row)
    // Sent together and done in this order: what is read is read under the locks.
    const [orders, known] = await Promise.all([
      lockReported(db, reports),
      firstAnswers(db, rows, ORDER_NOTICE_REPEAT_S),
    ])
    const decisions = items.map(({ row, report }, place): Decision | undefined => {
      const answer = known.get(place)
      if (answer !== undefined) return { answer }
      if (items.length > 1 && !orders.has(report.orderId)) return undefined
      const at = { cause: { kind: 'notice', id: row.noticeId }, now: row.receivedAt } as const
      return unlessRefused(() => ({
        answer: row.answer,
        news: row,
        save: decideConsumption(orders, row.partnerId, report, at),
      }))
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

function unlessRefused(decide: () => Decision): Decision {
  try {
    return decide()
  } catch (error) {
    if (error instanceof TicketingRefusal) return { refusal: bodyRejected(error.describe) }
    throw error
  }
}

/** Receipt and effect commit together before the answer is there; the same notice again gets the first answer. */
export async function takeConsumption(db: Db, row: NoticeRow, report: ConsumptionReport): Promise<string> {
  const decision = await db.gatherWork(consumptions, { row, report })
  if ('refusal' in decision) throw decision.refusal
  return decision.answer
}
