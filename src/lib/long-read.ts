import { RescodeError } from './web/rescode.ts'

const LONG_READ_RETRY_S = 30

/**
 * Reads that an operator asks for and that go through whole tables: one at a time, so that they never hold all connections
 * of operators. There is no queue: a further one is refused at once, with 429. Made once a process.
 */
export class LongReads {
  #isReading = false

  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#isReading) {
      const message =
        'Another count or verification is running in this process; only one runs at a time, try again later'
      const headers = { 'Retry-After': String(LONG_READ_RETRY_S) }
      throw new RescodeError(20003, { status: 429, message, headers, detail: 'a long read is being done' })
    }
    this.#isReading = true
    try {
      return await work()
    } finally {
      this.#isReading = false
    }
  }
}
