import { setTimeout as sleep } from 'node:timers/promises'
import type { Config } from '../config/index.ts'
import type { Deps } from '../deps.ts'
import { within } from '../lib/within.ts'
import { eventsAfter, lastSeqs } from './attempt-store.ts'
import type { RunEvent } from './event.ts'

const LOOK_EVERY_MS = 100

/** Who waits for lines of which run; all of a process share one statement a look, however many streams are open. */
interface Watch {
  readonly waiting: Map<string, Set<(lastSeq: number) => void>>
  looking: boolean
  /** Ends the pause before the next look. */
  hurry: AbortController
}
const watches = new WeakMap<Config, Watch>()

function watchOf({ config }: Deps): Watch {
  const known = watches.get(config) ?? { waiting: new Map(), looking: false, hurry: new AbortController() }
  watches.set(config, known)
  return known
}

/** Lines of a run after `seq`; waits for the next ones when there are none yet, until `signal` ends the wait (then none). */
async function nextEvents(deps: Deps, runId: string, seq: number, signal: AbortSignal): Promise<RunEvent[]> {
  for (;;) {
    const events = await eventsAfter(deps.db, runId, seq)
    if (events.length > 0 || signal.aborted) return events
    await newLines(deps, runId, seq, signal)
  }
}

/** Resolves once the run has lines after `seq`, or the signal ends the wait. */
function newLines(deps: Deps, runId: string, seq: number, signal: AbortSignal): Promise<void> {
  const watch = watchOf(deps)
  return new Promise((resolve) => {
    const waiting = watch.waiting.get(runId) ?? new Set()
    watch.waiting.set(runId, waiting)
    const end = () => {
      waiting.delete(told)
      if (waiting.size === 0) watch.waiting.delete(runId)
      signal.removeEventListener('abort', end)
      resolve()
    }
    const told = (lastSeq: number) => {
      if (lastSeq > seq) end()
    }
    waiting.add(told)
    signal.addEventListener('abort', end)
    if (signal.aborted) end()
    if (!watch.looking) void look(deps, watch)
  })
}

/** Whoever follows a run in this process sees at once what has just been written. */
export const lookNow = (deps: Deps): void => watchOf(deps).hurry.abort()

async function look(deps: Deps, watch: Watch): Promise<void> {
  watch.looking = true
  while (watch.waiting.size > 0) {
    // A database that is away for a moment ends no stream.
    const seqs = await lastSeqs(deps.db, [...watch.waiting.keys()]).catch(() => [])
    for (const { run_id, last_seq } of seqs) for (const told of [...(watch.waiting.get(run_id) ?? [])]) told(last_seq)
    watch.hurry = new AbortController()
    await sleep(LOOK_EVERY_MS, undefined, { ref: false, signal: watch.hurry.signal }).catch(() => {})
  }
  watch.looking = false
}

/** As `nextEvents`, for so many milliseconds at most; 0 does not wait. */
export const nextEventsWithin = (
  deps: Deps,
  runId: string,
  seq: number,
  signal: AbortSignal,
  ms: number,
): Promise<RunEvent[]> => within(ms, signal, (over) => nextEvents(deps, runId, seq, over))
