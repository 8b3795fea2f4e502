import { tooManyCalls } from '../../../ticketing/mws-wire/index.ts'
import type { RunDeps } from '../../certification/index.ts'
import { showRun } from '../../certification/index.ts'
import type { EventsQuery } from './wire.ts'

/** Lines after a number, 500 at most; `wait`: seconds to wait for the next, which `leaving` ends. */
export async function linesAfter(
  deps: RunDeps,
  partnerId: bigint,
  runId: string,
  { after, wait }: EventsQuery,
  leaving: AbortSignal,
) {
  // This also ends an attempt whose process has died: its last line would never come.
  await showRun(deps, partnerId, runId)
  const events = await deps.logFollowers.nextEvents(runId, after, leaving, wait * 1_000)
  return { events, lastSeq: events.at(-1)?.seq ?? after }
}

/** Requests that may wait for lines at once: of one partner, and of this process. */
const MAX_WAITING = { partner: 20, process: 1_000 }
const RETRY_S = 2

/** Requests that wait. Each holds a connection, so they are counted, and all end when the service stops. */
export class Waits {
  readonly #waiting = new Map<AbortController, bigint>()

  /** Runs `work`, whose signal is aborted by `endAll` or when the caller disconnects. Throws 429. */
  async during<Result>(partnerId: bigint, work: (leaving: AbortController) => Promise<Result>): Promise<Result> {
    const ofPartner = [...this.#waiting.values()].filter((other) => other === partnerId).length
    if (ofPartner >= MAX_WAITING.partner || this.#waiting.size >= MAX_WAITING.process) throw tooManyCalls(RETRY_S)
    const leaving = new AbortController()
    this.#waiting.set(leaving, partnerId)
    return work(leaving).finally(() => this.#waiting.delete(leaving))
  }

  endAll(): void {
    for (const leaving of this.#waiting.keys()) leaving.abort()
  }
}
