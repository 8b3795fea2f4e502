import { tooManyCalls } from '../../../ticketing/mws-wire/index.ts'
import { type RunDeps, requireRun } from '../../certification/index.ts'
import type { EventsQuery } from './wire.ts'

/** Lines after `after`, 500 at most; waits up to `wait` seconds for the first one, or until `signal` aborts. */
export async function linesAfter(
  deps: RunDeps,
  partnerId: bigint,
  runId: string,
  { after, wait }: EventsQuery,
  signal: AbortSignal,
) {
  // Otherwise the last line of an attempt whose process has died would never arrive.
  await requireRun(deps, partnerId, runId)
  const events = await deps.logFollowers.nextEvents(runId, after, signal, wait * 1_000)
  return { events, lastSeq: events.at(-1)?.seq ?? after }
}

/** Simultaneous long polls: per partner, and in this process. */
const MAX_WAITING = { partner: 20, process: 1_000 }
const RETRY_S = 2

/** Requests that wait for lines. Each holds a connection, so they are limited, and all end when the service stops. */
export class LongPolls {
  readonly #waiting = new Map<AbortController, bigint>()

  /** Runs `work`, which is aborted by `endAll` or by the caller. Throws 429 if there are too many. */
  async run<Result>(partnerId: bigint, work: (abort: AbortController) => Promise<Result>): Promise<Result> {
    const ofPartner = [...this.#waiting.values()].filter((other) => other === partnerId).length
    if (ofPartner >= MAX_WAITING.partner || this.#waiting.size >= MAX_WAITING.process) throw tooManyCalls(RETRY_S)
    const abort = new AbortController()
    this.#waiting.set(abort, partnerId)
    return work(abort).finally(() => this.#waiting.delete(abort))
  }

  endAll(): void {
    for (const abort of this.#waiting.keys()) abort.abort()
  }
}
