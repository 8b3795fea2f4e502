import type { Config } from '../config.ts'
import type { Deps } from '../deps.ts'
import { addSeconds } from '../lib/clock.ts'

const FAILURES = 5
const REST_S = 30

interface Circuit {
  failures: number
  /** Set while the circuit is open: when one call may try again. */
  retryAt: Date | null
}

/**
 * A circuit breaker for each partner, so that one that is down is not kept waiting for by every order: five failed
 * calls in a row open it for 30 s, then one call at a time tries. Each process has its own: it guards what the process
 * spends on waiting, and needs no agreement.
 */
const circuits = new WeakMap<Config, Map<bigint, Circuit>>()

function circuitOf({ config }: Deps, partnerId: bigint): Circuit {
  const all = circuits.get(config) ?? new Map<bigint, Circuit>()
  circuits.set(config, all)
  const circuit = all.get(partnerId) ?? { failures: 0, retryAt: null }
  all.set(partnerId, circuit)
  return circuit
}

/** Whether a call may be made now. Of several that ask after the rest, one may; the others count it as still closed. */
export function admits(deps: Deps, partnerId: bigint): boolean {
  const circuit = circuitOf(deps, partnerId)
  if (circuit.retryAt === null) return true
  const now = deps.clock.now()
  if (now < circuit.retryAt) return false
  circuit.retryAt = addSeconds(now, REST_S)
  return true
}

/** Tells how an admitted call went: whether the partner answered at all. */
export function note(deps: Deps, partnerId: bigint, answered: boolean): void {
  const circuit = circuitOf(deps, partnerId)
  circuit.failures = answered ? 0 : circuit.failures + 1
  circuit.retryAt = circuit.failures >= FAILURES ? addSeconds(deps.clock.now(), REST_S) : null
}

/** Lets the next call through whatever happened before: a person wants to know how the partner is now. */
export function breakerForgets(deps: Deps, partnerId: bigint): void {
  circuitOf(deps, partnerId).failures = 0
  circuitOf(deps, partnerId).retryAt = null
}
