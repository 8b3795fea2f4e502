import { setTimeout as sleep } from 'node:timers/promises'
import type { NoticeDeps } from '../../ticketing/mtp/index.ts'
import type { LogFollowers } from './log-followers.ts'

/** Dependencies of operations on test runs. */
export interface RunDeps extends NoticeDeps {
  readonly runningAttempts: RunningAttempts
  readonly logFollowers: LogFollowers
}

interface RunningAttempt {
  readonly abort: AbortController
  readonly done: Promise<void>
  /** Marks it as interrupted in the database. */
  readonly interrupt: () => Promise<void>
}

const SHUTDOWN_GRACE_MS = 1_000

/** The attempts that this process runs in the background. One per process. */
export class RunningAttempts {
  readonly #running = new Map<string, RunningAttempt>()
  /** Runs whose steps are started one after the other. */
  readonly #runningAll = new Set<string>()
  isClosed = false

  get size(): number {
    return this.#running.size
  }

  /** Keeps it until it is done. */
  add(attemptId: string, attempt: RunningAttempt): void {
    this.#running.set(attemptId, attempt)
    void attempt.done.finally(() => this.#running.delete(attemptId))
  }

  /** Resolves when an attempt has ended; at once if this process does not run it. */
  async endOf(attemptId: string): Promise<void> {
    await this.#running.get(attemptId)?.done
  }

  isRunningAll(runId: string): boolean {
    return this.#runningAll.has(runId)
  }

  /** Runs `work` for this run unless it is already being done. */
  runAll(runId: string, work: () => Promise<void>): void {
    if (this.isRunningAll(runId)) return
    this.#runningAll.add(runId)
    void work().finally(() => this.#runningAll.delete(runId))
  }

  /** Stops working on an attempt that has been ended in the database; does nothing if another process runs it. */
  abort(attemptId: string): void {
    this.#running.get(attemptId)?.abort.abort()
  }

  /** Interrupts all attempts before the process exits, without waiting for partners that have not answered. */
  async close(): Promise<void> {
    this.isClosed = true
    await Promise.all(
      [...this.#running.values()].map(async ({ abort, done, interrupt }) => {
        await interrupt().catch(() => {})
        abort.abort()
        await Promise.race([done, sleep(SHUTDOWN_GRACE_MS, undefined, { ref: false })])
      }),
    )
  }
}
