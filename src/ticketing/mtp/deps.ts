import type { IncomingDeps } from '../mws/index.ts'
import type { CallDeps } from '../partner-calls/index.ts'
import type { AcceptedNotice } from './accept-once.ts'

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
    const own = accept().finally(() => this.#accepting.delete(key))
    this.#accepting.set(key, own)
    return own
  }
}
