import { isWithin } from '../../platform/lib/clock.ts'
import { failureOf, UpstreamFailure } from './failures.ts'

/** The least time between fetches after a failure, seconds. */
const FAILED_S = 5

interface Held<Value> {
  readonly value: Value
  readonly readAt: Date
}

/** Caches what the provider publishes. Fetched when it is needed, by one request at a time. */
export class Published<Value> {
  readonly #clock: { now(): Date }
  readonly #times: { readonly freshS: number; readonly staleS: number }
  #held: Held<Value> | undefined
  #fetching: Promise<Held<Value>> | undefined
  #failedAt: Date | undefined

  /** Used for `freshS` before it is fetched again, and for `staleS` at most while the provider does not answer. */
  constructor(clock: { now(): Date }, times: { readonly freshS: number; readonly staleS: number }) {
    this.#clock = clock
    this.#times = times
  }

  get held(): Held<Value> | undefined {
    return this.#held
  }

  forget(): void {
    this.#held = undefined
  }

  /** What is held, or is fetched now. Throws UpstreamFailure. */
  async read(fetch: () => Promise<Value>): Promise<Held<Value>> {
    const held = this.#held
    if (held && this.#within(held.readAt, this.#times.freshS)) return held
    const isUsable = this.#within(held?.readAt, this.#times.staleS)
    return this.fetch(fetch).catch((error: unknown) => {
      if (held && isUsable) return held
      throw error
    })
  }

  /** Fetches it, but not right after a failure. Throws UpstreamFailure. */
  async fetch(fetch: () => Promise<Value>): Promise<Held<Value>> {
    if (!this.#fetching && this.#within(this.#failedAt, FAILED_S)) {
      throw new UpstreamFailure('away', 'was asked a moment ago, and did not answer')
    }
    this.#fetching ??= this.#keep(fetch).finally(() => {
      this.#fetching = undefined
    })
    return this.#fetching.catch((error: unknown) => {
      throw failureOf(error, true)
    })
  }

  async #keep(fetch: () => Promise<Value>): Promise<Held<Value>> {
    const readAt = this.#clock.now()
    try {
      this.#held = { value: await fetch(), readAt }
      return this.#held
    } catch (error) {
      this.#failedAt = this.#clock.now() // not when it was asked: it may have taken all of its time to fail
      throw error
    }
  }

  #within(moment: Date | undefined, seconds: number): boolean {
    return isWithin(moment, seconds, this.#clock.now())
  }
}
