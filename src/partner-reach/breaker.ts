import { randomUUID } from 'node:crypto'
import type { Deps } from '../deps.ts'
import { addSeconds, type Clock } from '../lib/clock.ts'
import * as store from './circuit-store.ts'

const FAILURES = 5
const REST_S = 30
/** After so many failed calls in a row no call is made for so many seconds. */
export const BREAKER = { failures: FAILURES, restS: REST_S } as const

/** A response that takes longer is slow. */
const SLOW_MS = 5_000
/** Milliseconds of slow responses above which background calls wait. The sum halves each minute. */
const MOST_SLOW_MS = 30_000
const HALF_FORGOTTEN_S = 60

interface Circuit {
  failures: number
  /** Set while the circuit is open: when one call may try again. */
  retryAt: Date | null
  /** Time spent on slow answers, as of `slowAt`. */
  slowMs: number
  slowAt: Date
  /** The database says that it is open, so an operator can end that there (resetBreaker). */
  isKept: boolean
}

/** What an outcome has changed: the circuit is open until then, or no longer. */
type CircuitChange = 'closed' | { readonly retryAt: Date } | undefined

interface RefusedCall {
  readonly refused: string
  /** Because calls failed, and operators can see it. */
  readonly isKept: boolean
}

const closed = (now: Date): Circuit => ({ failures: 0, retryAt: null, slowMs: 0, slowAt: now, isKept: false })

/**
 * A circuit breaker for each partner, made once a process. Five failed calls in a row open a circuit for 30 s, so that no
 * order waits for a partner that is down; then one call at a time tries. A partner that answers slowly gets no background
 * calls for a while, so that pulls from it do not take the time of other partners' jobs. Orders are still sent: a slow
 * ticket is better than none. Circuits protect the time of one process, so processes need not agree on them.
 */
export class CircuitBreakers {
  /** Whose circuits these are. */
  readonly process = randomUUID()
  readonly #clock: Clock
  readonly #circuits = new Map<bigint, Circuit>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  #circuitOf(partnerId: bigint): Circuit {
    const circuit = this.#circuits.get(partnerId) ?? closed(this.#clock.now())
    this.#circuits.set(partnerId, circuit)
    return circuit
  }

  /**
   * Whether a call may be made now, or why not. After the rest of an open circuit one call is allowed; the others are
   * refused until its outcome is known. `background`: nobody waits for the answer.
   */
  allowsCall(partnerId: bigint, background: boolean): true | RefusedCall {
    const circuit = this.#circuitOf(partnerId)
    const now = this.#clock.now()
    if (background && slowMsAt(circuit, now) > MOST_SLOW_MS) {
      return { refused: 'the partner’s last responses were slow; the next pull has to wait', isKept: false }
    }
    if (circuit.retryAt === null) return true
    if (now < circuit.retryAt) {
      return { refused: 'the last calls failed; the next one is tried within 30 s', isKept: circuit.isKept }
    }
    circuit.retryAt = addSeconds(now, REST_S)
    return true
  }

  /** Counts a call that was made: whether the partner answered at all, and how long that took. */
  recordOutcome(partnerId: bigint, answered: boolean, durationMs: number): CircuitChange {
    const circuit = this.#circuitOf(partnerId)
    const now = this.#clock.now()
    const wasOpen = circuit.retryAt !== null
    circuit.failures = answered ? 0 : circuit.failures + 1
    circuit.retryAt = circuit.failures >= FAILURES ? addSeconds(now, REST_S) : null
    circuit.slowMs = slowMsAt(circuit, now) + (durationMs > SLOW_MS ? durationMs : 0)
    circuit.slowAt = now
    if (circuit.retryAt !== null) return { retryAt: circuit.retryAt }
    return wasOpen ? 'closed' : undefined
  }

  /** Whether the database says that the circuit is open. */
  keep(partnerId: bigint, isKept: boolean): void {
    this.#circuitOf(partnerId).isKept = isKept
  }

  /** How many partners are left alone now, because their calls failed (open) or because they are slow. */
  counts(): { readonly open: number; readonly slow: number } {
    const now = this.#clock.now()
    const circuits = [...this.#circuits.values()]
    return {
      open: circuits.filter(({ retryAt }) => retryAt !== null).length,
      slow: circuits.filter((circuit) => slowMsAt(circuit, now) > MOST_SLOW_MS).length,
    }
  }

  /** Closes the circuit: the next call is allowed whatever happened before. */
  reset(partnerId: bigint): void {
    this.#circuits.set(partnerId, closed(this.#clock.now()))
  }
}

function slowMsAt({ slowMs, slowAt }: Circuit, now: Date): number {
  const seconds = Math.max(0, (now.getTime() - slowAt.getTime()) / 1000)
  return slowMs * 0.5 ** (seconds / HALF_FORGOTTEN_S)
}

/** A statement only when a circuit opens, stays open after another failure, or closes. */
export async function keepCircuit({ db, clock, calls }: Deps, partnerId: bigint, change: CircuitChange): Promise<void> {
  if (change === undefined) return
  const key = { partnerId, process: calls.breakers.process }
  const isOpen = change !== 'closed'
  if (isOpen) await store.upsertCircuit(db, key, change.retryAt, clock.now())
  else await store.deleteCircuit(db, key)
  calls.breakers.keep(partnerId, isOpen)
}

/** Whether a call may be made, or why not: what a process refuses an operator may have allowed again. */
export async function mayCall({ db, calls }: Deps, partnerId: bigint, background: boolean) {
  const allowed = calls.breakers.allowsCall(partnerId, background)
  if (allowed === true || !allowed.isKept) return allowed
  if (await store.hasCircuit(db, { partnerId, process: calls.breakers.process })) return allowed
  calls.breakers.reset(partnerId)
  return calls.breakers.allowsCall(partnerId, background)
}
