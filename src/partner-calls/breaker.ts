import type { Config } from '../config/index.ts'
import type { Deps } from '../deps.ts'
import { addSeconds } from '../lib/clock.ts'

const FAILURES = 5
const REST_S = 30

/** An answer that takes longer is slow. */
const SLOW_MS = 5_000
/** So much time spent on slow answers is too much. Half of it is forgotten each minute. */
const MOST_SLOW_MS = 30_000
const HALF_FORGOTTEN_S = 60

interface Circuit {
  failures: number
  /** Set while the circuit is open: when one call may try again. */
  retryAt: Date | null
  /** Time spent on slow answers, as of `slowAt`. */
  slowMs: number
  slowAt: Date
}

/**
 * A circuit breaker for each partner, so that one that is down is not kept waiting for by every order: five failed
 * calls in a row open it for 30 s, then one call at a time tries. A partner that answers, but slowly, is spared the calls
 * that nobody waits for until less of the time goes there: pulls of it must not take the time of other partners' jobs. Orders
 * are still sent: a slow ticket is better than none. Each process has its own circuits: they guard what the process spends
 * on waiting, and need no agreement.
 */
const circuits = new WeakMap<Config, Map<bigint, Circuit>>()

const closed = (now: Date): Circuit => ({ failures: 0, retryAt: null, slowMs: 0, slowAt: now })

function circuitOf({ config, clock }: Deps, partnerId: bigint): Circuit {
  const all = circuits.get(config) ?? new Map<bigint, Circuit>()
  circuits.set(config, all)
  const circuit = all.get(partnerId) ?? closed(clock.now())
  all.set(partnerId, circuit)
  return circuit
}

/**
 * Why a call is not made now; undefined when it may be. Of several that ask after the rest, one may; the others count it as
 * still open. `background`: nobody waits for the answer.
 */
export function refusalOf(deps: Deps, partnerId: bigint, background: boolean): string | undefined {
  const circuit = circuitOf(deps, partnerId)
  const now = deps.clock.now()
  if (background && slowMsAt(circuit, now) > MOST_SLOW_MS)
    return 'its last answers were slow; the next pull has to wait'
  if (circuit.retryAt === null) return undefined
  if (now < circuit.retryAt) return 'the last calls failed; the next is tried within 30 s'
  circuit.retryAt = addSeconds(now, REST_S)
  return undefined
}

/** Tells how a call went that was made: whether the partner answered at all, and how long that took. */
export function note(deps: Deps, partnerId: bigint, answered: boolean, durationMs: number): void {
  const circuit = circuitOf(deps, partnerId)
  const now = deps.clock.now()
  circuit.failures = answered ? 0 : circuit.failures + 1
  circuit.retryAt = circuit.failures >= FAILURES ? addSeconds(now, REST_S) : null
  circuit.slowMs = slowMsAt(circuit, now) + (durationMs > SLOW_MS ? durationMs : 0)
  circuit.slowAt = now
}

function slowMsAt({ slowMs, slowAt }: Circuit, now: Date): number {
  const seconds = Math.max(0, (now.getTime() - slowAt.getTime()) / 1000)
  return slowMs * 0.5 ** (seconds / HALF_FORGOTTEN_S)
}

/** Lets the next call through whatever happened before: a person wants to know how the partner is now. */
export function breakerForgets(deps: Deps, partnerId: bigint): void {
  Object.assign(circuitOf(deps, partnerId), closed(deps.clock.now()))
}
