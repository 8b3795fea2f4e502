import { type Deps, inTransaction } from '../../platform/deps.ts'
import type { Cause } from '../../platform/history/index.ts'
import { RefusedRequest } from '../../platform/lib/web/rescode.ts'
import type { IncomingDeps } from '../mws/index.ts'
import { bodyRejected } from '../mws-wire/index.ts'
import type { CallDeps } from '../partner-calls/index.ts'
import { claimNotices, firstAnswers, type NoticeRow, type RememberedAnswer } from './store.ts'

export interface AcceptedNotice extends RememberedAnswer {
  /** Whether it came before: then it has no effect, and `noticeId` and `answer` are those of the first one. */
  readonly isRepeat: boolean
}

/** A day is safe for order notices: they are cumulative, and their business keys do not expire. */
export const ORDER_REPEAT_S = 86_400

/** Only ten seconds: a partner that changes a price twice a day sends the same bytes twice, and the second is news. */
export const CATALOGUE_REPEAT_S = 10

/**
 * Claims the notice, then applies it, in one transaction. (Consumption notices are claimed last: consumption.ts.) The
 * same bytes again within `repeatWithinS` seconds count as a retry.
 */
export function acceptOnce(
  deps: Deps,
  row: NoticeRow,
  repeatWithinS: number,
  apply: (inside: Deps, cause: Cause) => Promise<void>,
): Promise<AcceptedNotice> {
  return inTransaction(deps, async (inside, db) => {
    const claimed = await claimNotices(db, [row], repeatWithinS)
    if (claimed === 0) {
      const first = (await firstAnswers(db, [row], repeatWithinS)).get(0)
      if (!first) throw new Error('a notice that could not be claimed has been answered before')
      return { ...first, isRepeat: true }
    }
    await apply(inside, { kind: 'notice', id: row.noticeId }).catch((error: unknown) => {
      throw error instanceof RefusedRequest ? bodyRejected(error.describe) : error
    })
    return { noticeId: row.noticeId, answer: row.answer, isRepeat: false }
  })
}

export interface NoticeDeps extends IncomingDeps, CallDeps {
  readonly notices: NoticesInProgress
}

/**
 * The notices that this process is accepting; created once per process. A repeat waits here, without a connection: a
 * slow notice that its partner keeps repeating would otherwise occupy all of them. Other processes wait for it in the
 * database, with one connection each.
 */
export class NoticesInProgress {
  readonly #accepting = new Map<string, Promise<AcceptedNotice>>()

  /** Accepts a notice. One whose key is already in progress waits for that one, and counts as its repeat. */
  async accept(key: string, accept: () => Promise<AcceptedNotice>): Promise<AcceptedNotice> {
    const first = this.#accepting.get(key)
    if (first) return { ...(await first), isRepeat: true }
    const own = accept()
    this.#accepting.set(key, own)
    try {
      return await own
    } finally {
      this.#accepting.delete(key)
    }
  }
}
