import { tooManyCalls } from '../../mtp/errors.ts'

/** Requests that may wait for lines at once: of one partner, and of this process. */
const MOST = { partner: 20, process: 1_000 }
const RETRY_S = 2

/** Requests that wait. Each holds a connection, so they are counted, and all end when the service stops. */
export class Waits {
  readonly #waiting = new Map<AbortController, bigint>()

  /** Lets `work` wait; its signal ends the wait when `endAll` does, or when the caller has gone. Throws 429. */
  async during<Result>(partnerId: bigint, work: (leaving: AbortController) => Promise<Result>): Promise<Result> {
    const ofPartner = [...this.#waiting.values()].filter((other) => other === partnerId).length
    if (ofPartner >= MOST.partner || this.#waiting.size >= MOST.process) throw tooManyCalls(RETRY_S)
    const leaving = new AbortController()
    this.#waiting.set(leaving, partnerId)
    return work(leaving).finally(() => this.#waiting.delete(leaving))
  }

  endAll(): void {
    for (const leaving of this.#waiting.keys()) leaving.abort()
  }
}
