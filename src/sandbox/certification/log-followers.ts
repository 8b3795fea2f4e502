import { setTimeout as sleep } from 'node:timers/promises'
import type { Db } from '../../platform/db/sql.ts'
import { logBackgroundFailure, type SampledLog } from '../../platform/lib/sampled-log.ts'
import { within } from '../../platform/lib/within.ts'
import { eventsAfter, lastSeqs } from './attempt-store.ts'
import type { RunEvent } from './event.ts'

const LOOK_EVERY_MS = 100

type OnNewLines = (lastSeq: number) => void

/** All who wait for new lines of a run's log, however many: one statement a look. Made once a process. */
export class LogFollowers {
  readonly #db: Db
  readonly #log: SampledLog
  /** By run. */
  readonly #waiting = new Map<string, Set<OnNewLines>>()
  #looking = false
  #isClosed = false
  /** Ends the pause before the next look. */
  #hurry = new AbortController()

  constructor(db: Db, log: SampledLog) {
    this.#db = db
    this.#log = log
  }

  /** Lines after `seq`, 500 at most; waits up to `ms` milliseconds (0: not at all), or until the signal. */
  nextEvents(runId: string, seq: number, signal: AbortSignal, ms: number): Promise<RunEvent[]> {
    return within(ms, signal, async (over) => {
      for (;;) {
        const events = await eventsAfter(this.#db, runId, seq)
        if (events.length > 0 || over.aborted || this.#isClosed) return events
        await this.#newLines(runId, seq, over)
      }
    })
  }

  /** Looks for new lines at once: somebody in this process has just written one. */
  lookNow(): void {
    this.#hurry.abort()
  }

  /** Ends every wait. */
  close(): void {
    this.#isClosed = true
    for (const run of [...this.#waiting.values()])
      for (const onNewLines of [...run]) onNewLines(Number.POSITIVE_INFINITY)
    this.lookNow()
  }

  /** Resolves once the run has lines after `seq`, or the signal ends the wait. */
  #newLines(runId: string, seq: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(runId) ?? new Set()
      this.#waiting.set(runId, waiting)
      const end = () => {
        waiting.delete(onNewLines)
        if (waiting.size === 0) this.#waiting.delete(runId)
        signal.removeEventListener('abort', end)
        resolve()
      }
      const onNewLines: OnNewLines = (lastSeq) => {
        if (lastSeq > seq) end()
      }
      waiting.add(onNewLines)
      signal.addEventListener('abort', end)
      if (signal.aborted) end()
      if (!this.#looking) void this.#look()
    })
  }

  async #look(): Promise<void> {
    this.#looking = true
    while (this.#waiting.size > 0) {
      // No stream ends because the database cannot be reached for a moment.
      const seqs = await lastSeqs(this.#db, [...this.#waiting.keys()]).catch((error: unknown) => {
        logBackgroundFailure(this.#log, 'new lines of sandbox runs could not be read', error)
        return []
      })
      for (const { run_id, last_seq } of seqs)
        for (const onNewLines of [...(this.#waiting.get(run_id) ?? [])]) onNewLines(last_seq)
      this.#hurry = new AbortController()
      await sleep(LOOK_EVERY_MS, undefined, { ref: false, signal: this.#hurry.signal }).catch(() => {})
    }
    this.#looking = false
  }
}
