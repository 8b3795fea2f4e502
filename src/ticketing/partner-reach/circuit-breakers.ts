import { randomUUID } from 'node:crypto'
import { addSeconds, type Clock, isWithin } from '../../platform/lib/clock.ts'
import { type LocalizedText, localized } from '../../platform/lib/localized-text.ts'

/** After `failures` failed calls in a row no call is made for `openS` seconds. */
export const BREAKER = { failures: 5, openS: 30 } as const

/** A response that takes longer is slow. */
const SLOW_MS = 5_000
/** Milliseconds of slow responses above which background calls wait. The sum halves each minute. */
const MAX_SLOW_MS = 30_000
const HALF_FORGOTTEN_S = 60

/** Longer than jobs pause between calls (ten minutes), shorter than the alert waits (a quarter of an hour). */
const COUNTED_FOR_S = 800

interface Breaker {
  failures: number
  /** Set while the breaker is open: when one call may try again. */
  retryAt: Date | null
  /** Time spent on slow answers, as of `slowAt`. */
  slowMs: number
  slowAt: Date
  /** Calls that have begun and not ended. */
  underWay: number
  /** Whether the database lists it as open, so that operators can reset it there (resetBreaker). */
  isKept: boolean
}

/** What an outcome changed: the breaker is closed again, or open until `retryAt`. */
export type BreakerChange = 'closed' | { readonly retryAt: Date } | undefined

interface RefusedCall {
  readonly refused: LocalizedText
  /** Whether it was refused because calls failed, which operators see and can reset. */
  readonly isKept: boolean
}

const closed = (now: Date): Breaker => ({
  failures: 0,
  retryAt: null,
  slowMs: 0,
  slowAt: now,
  underWay: 0,
  isKept: false,
})

/**
 * A circuit breaker per partner; created once per process. Five failed calls in a row open it for 30 s, so that no
 * order waits for a partner that is down; after that one call at a time is tried. A partner that answers slowly gets no
 * background calls for a while, so that its pulls do not hold up other partners' jobs. Orders are still sent: a slow
 * ticket is better than none. So that one slow partner does not take the whole process, calls to it beyond a number are
 * not made, nor do they wait. Breakers protect the time of one process, so processes need not agree on them.
 */
export class CircuitBreakers {
  /** Identifies this process in the database. */
  readonly process = randomUUID()
  readonly #clock: Clock
  readonly #mostAtOnce: number
  readonly #breakers = new Map<bigint, Breaker>()

  /** `mostAtOnce`: how many calls to one partner may be under way. */
  constructor(clock: Clock, mostAtOnce: number) {
    this.#clock = clock
    this.#mostAtOnce = mostAtOnce
  }

  #breakerOf(partnerId: bigint): Breaker {
    const breaker = this.#breakers.get(partnerId) ?? closed(this.#clock.now())
    this.#breakers.set(partnerId, breaker)
    return breaker
  }

  /**
   * Whether a call may be made now, or why not. 30 s after the breaker opened one call is allowed; others are refused
   * until its outcome is known. `background`: nobody waits for the answer. Who may make the call has to record its
   * outcome.
   */
  allowsCall(partnerId: bigint, background: boolean): true | RefusedCall {
    const breaker = this.#breakerOf(partnerId)
    const now = this.#clock.now()
    if (background && slowMsAt(breaker, now) > MAX_SLOW_MS) {
      return { refused: localized('breaker-slow'), isKept: false }
    }
    if (breaker.underWay >= this.#mostAtOnce) {
      return { refused: localized('partner-busy', { most: this.#mostAtOnce }), isKept: false }
    }
    if (breaker.retryAt === null) {
      breaker.underWay++
      return true
    }
    // Also once the clock was set back: a partner must not be left alone for as long as that.
    if (isWithin(addSeconds(breaker.retryAt, -BREAKER.openS), BREAKER.openS, now)) {
      return { refused: localized('breaker-open', { seconds: BREAKER.openS }), isKept: breaker.isKept }
    }
    breaker.retryAt = addSeconds(now, BREAKER.openS)
    breaker.underWay++
    return true
  }

  /** Counts a call that was made, by whether the partner answered at all and how long it took. */
  recordOutcome(partnerId: bigint, answered: boolean, durationMs: number): BreakerChange {
    const breaker = this.#breakerOf(partnerId)
    const now = this.#clock.now()
    breaker.underWay = Math.max(0, breaker.underWay - 1)
    // Also while the database lists it, because a former change could not be stored.
    const wasOpen = breaker.retryAt !== null || breaker.isKept
    breaker.failures = answered ? 0 : breaker.failures + 1
    breaker.retryAt = breaker.failures >= BREAKER.failures ? addSeconds(now, BREAKER.openS) : null
    breaker.slowMs = slowMsAt(breaker, now) + (durationMs > SLOW_MS ? durationMs : 0)
    breaker.slowAt = now
    if (breaker.retryAt !== null) return { retryAt: breaker.retryAt }
    return wasOpen ? 'closed' : undefined
  }

  keep(partnerId: bigint, isKept: boolean): void {
    this.#breakerOf(partnerId).isKept = isKept
  }

  /**
   * How many partners have failed calls and were called a short while ago (open), or are not called in the background
   * because they are slow. A partner that nothing calls any more is not counted: nobody knows whether it is away.
   */
  counts(): { readonly open: number; readonly slow: number } {
    const now = this.#clock.now()
    const breakers = [...this.#breakers.values()]
    return {
      open: breakers.filter(({ retryAt }) => retryAt !== null && now < addSeconds(retryAt, COUNTED_FOR_S)).length,
      slow: breakers.filter((breaker) => slowMsAt(breaker, now) > MAX_SLOW_MS).length,
    }
  }

  /** Closes the breaker and forgets what happened before. */
  reset(partnerId: bigint): void {
    const { underWay } = this.#breakerOf(partnerId)
    this.#breakers.set(partnerId, { ...closed(this.#clock.now()), underWay })
  }
}

function slowMsAt({ slowMs, slowAt }: Breaker, now: Date): number {
  const seconds = Math.max(0, (now.getTime() - slowAt.getTime()) / 1000)
  return slowMs * 0.5 ** (seconds / HALF_FORGOTTEN_S)
}
