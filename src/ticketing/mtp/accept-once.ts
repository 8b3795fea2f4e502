import { type Deps, inTransaction } from '../../platform/deps.ts'
import type { Cause } from '../../platform/history/index.ts'
import { RefusedRequest } from '../../platform/lib/web/rescode.ts'
import type { IncomingDeps } from '../mws/index.ts'
import { bodyRejected } from '../mws-wire/index.ts'
import type { CallDeps } from '../partner-calls/index.ts'
import { claimNotices, firstAnswers, type NoticeRow, type RememberedAnswer } from './store.ts'

/** What was done with a notice that is not rejected. */
export interface AcceptedNotice extends RememberedAnswer {
  /** It came before: it gets the first answer, whose notice `noticeId` names, and has no effect. */
  readonly isRepeat: boolean
}

/** Order notices are cumulative, so a day is safe for them; their business keys do not expire. */
export const ORDER_REPEAT_S = 86_400

/** For ten seconds only: who changes a price twice a day sends the same bytes twice, and the second is new. */
export const CATALOGUE_REPEAT_S = 10

/**
 * The notice is claimed, then it takes effect, in one transaction; consumption notices are claimed last
 * (consumption.ts). `repeatWithinS`: seconds in which the same bytes again are taken for a retry.
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

/** For operations that accept notices. */
export interface NoticeDeps extends IncomingDeps, CallDeps {
  readonly notices: NoticesInProgress
}

/**
 * The notices that this process is accepting; made once a process. Other processes wait for the same notice in the
 * database with one connection each; without this, a slow notice that its partner keeps repeating would occupy all our
 * connections.
 */
export class NoticesInProgress {
  readonly #accepting = new Map<string, Promise<AcceptedNotice>>()

  /** Accepts a notice; one with the same key as one in progress waits for that, and is a repeat of it. */
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
