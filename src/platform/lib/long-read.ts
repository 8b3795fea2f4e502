import { type FailureRow, NamedFailure } from './failure.ts'
import { localized } from './localized-text.ts'

const RUNNING: FailureRow = { rescode: 20003, status: 429, message: localized('long-read-running') }

/**
 * Reads of whole tables for operators: one at a time per process, so that they never hold all connections of operators.
 * There is no queue: another one is refused at once, with 429.
 */
export class LongReads {
  #isReading = false

  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#isReading) {
      throw new NamedFailure('long_read_running', RUNNING, { retryAfterS: 30, detail: 'a long read is running' })
    }
    this.#isReading = true
    try {
      return await work()
    } finally {
      this.#isReading = false
    }
  }
}
