import type { RunEvent } from '../../certification/event.ts'
import { nextEventsWithin } from '../../certification/follow.ts'
import { showRun } from '../../certification/run.ts'
import type { Deps } from '../../deps.ts'
import type { EventsQuery } from './wire.ts'

export interface Lines {
  readonly events: readonly RunEvent[]
  /** Where to ask on from: `after` of the next call. */
  readonly lastSeq: number
}

/**
 * Lines of a run's log after a number, 500 at most. With `wait` it takes its time until there is one; `leaving` ends
 * the wait early.
 */
export async function linesAfter(
  deps: Deps,
  partnerId: bigint,
  runId: string,
  { after, wait }: EventsQuery,
  leaving: AbortSignal,
): Promise<Lines> {
  // Also ends an attempt whose process has died, or its last line would never come.
  await showRun(deps, partnerId, runId)
  const events = await nextEventsWithin(deps, runId, after, leaving, wait * 1_000)
  return { events, lastSeq: events.at(-1)?.seq ?? after }
}
