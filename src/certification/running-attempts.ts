import { setTimeout as sleep } from 'node:timers/promises'

interface RunningAttempt {
  readonly abort: AbortController
  readonly done: Promise<void>
  /** Ends it in the database, as interrupted. */
  readonly interrupt: () => Promise<void>
}

const LAST_WORDS_MS = 1_000

/** The attempts that this process makes in the background. Made once a process. */
export class RunningAttempts {
  readonly #running = new Map<string, RunningAttempt>()

  get size(): number {
    return this.#running.size
  }

  add(attemptId: string, attempt: RunningAttempt): void {
    this.#running.set(attemptId, attempt)
  }

  remove(attemptId: string): void {
    this.#running.delete(attemptId)
  }

  /** Ends the work on an attempt that has been ended in the database. Nothing happens if another process makes it. */
  abort(attemptId: string): void {
    this.#running.get(attemptId)?.abort.abort()
  }

  /** Interrupts them all, before the process stops. It does not wait for a partner that has not answered yet. */
  async close(): Promise<void> {
    await Promise.all(
      [...this.#running.values()].map(async ({ abort, done, interrupt }) => {
        await interrupt().catch(() => {})
        abort.abort()
        await Promise.race([done, sleep(LAST_WORDS_MS, undefined, { ref: false })])
      }),
    )
  }
}
