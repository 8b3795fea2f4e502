import { EventEmitter } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Db } from '../../platform/db/sql.ts'
import { logBackgroundFailure, type SampledLog } from '../../platform/lib/sampled-log.ts'
import { within } from '../../platform/lib/within.ts'
import { eventsAfter, lastSeqs } from './attempt-store.ts'
import type { RunEvent } from './event.ts'

const POLL_MS = 100

/**
 * Everybody in this process who waits for new log lines: one statement per poll, however many wait. One per process.
 */
export class LogFollowers {
  readonly #db: Db
  readonly #log: SampledLog
  /** Its events are named by run, and tell the number of the last line. */
  readonly #waiting = new EventEmitter().setMaxListeners(0)
  #polling = false
  #isClosed = false
  /** Cuts the pause before the next poll short. */
  #wake = new AbortController()

  constructor(db: Db, log: SampledLog) {
    this.#db = db
    this.#log = log
  }

  /** Lines after `seq`, 500 at most; waits up to `ms` milliseconds for the first one, or until the signal aborts. */
  nextEvents(runId: string, seq: number, signal: AbortSignal, ms: number): Promise<RunEvent[]> {
    return within(ms, signal, async (over) => {
      for (;;) {
        const events = await eventsAfter(this.#db, runId, seq)
        if (events.length > 0 || over.aborted || this.#isClosed) return events
        await this.#newLines(runId, seq, over)
      }
    })
  }

  /** Polls at once; called by whoever has just written a line in this process. */
  pollNow(): void {
    this.#wake.abort()
  }

  /** Ends every wait. */
  close(): void {
    this.#isClosed = true
    for (const run of this.#waiting.eventNames()) this.#waiting.emit(run, Number.POSITIVE_INFINITY)
    this.pollNow()
  }

  /** Resolves once the run has lines after `seq`, or the signal aborts. */
  #newLines(runId: string, seq: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        this.#waiting.off(runId, onNewLines)
        signal.removeEventListener('abort', end)
        resolve()
      }
      const onNewLines = (lastSeq: number) => {
        if (lastSeq > seq) end()
      }
      this.#waiting.on(runId, onNewLines)
      signal.addEventListener('abort', end)
      if (signal.aborted) end()
      if (!this.#polling) void this.#poll()
    })
  }

  async #poll(): Promise<void> {
    this.#polling = true
    for (;;) {
      const runs = this.#waiting.eventNames().map(String)
      if (runs.length === 0) break
      // A brief database outage must not end any stream.
      const seqs = await lastSeqs(this.#db, runs).catch((error: unknown) => {
        logBackgroundFailure(this.#log, 'new lines of sandbox runs could not be read', error)
        return []
      })
      for (const { run_id, last_seq } of seqs) this.#waiting.emit(run_id, last_seq)
      this.#wake = new AbortController()
      await sleep(POLL_MS, undefined, { ref: false, signal: this.#wake.signal }).catch(() => {})
    }
    this.#polling = false
  }
}
