import type { Deps } from '../../../platform/deps.ts'
import { findAttempt, type RunEvent, requireRun } from '../../certification/index.ts'
import { type LineContext, type LogLine, logLines } from './log-line.ts'

/** Keeps proxies from closing the connection; the session is checked again each time. */
const HEARTBEAT_MS = 10_000

/** Streams end after this time; the browser reconnects, perhaps to another process. */
const MAX_STREAM_MS = 240_000

export interface FollowedLine {
  readonly event: RunEvent
  readonly line: LogLine
}

export interface FollowOptions extends Omit<LineContext, 'startedAt'> {
  readonly runId: string
  /** The last line that the reader already has. */
  readonly after: number
  readonly signal: AbortSignal
  /** Whether the reader is still signed in. */
  readonly allowed: () => Promise<boolean>
}

/** A run's log lines as they happen, null after a while without; ends with the signal, the session, or in minutes. */
export async function* followLines({
  runId,
  after,
  signal,
  allowed,
  ...context
}: FollowOptions): AsyncGenerator<FollowedLine | null> {
  const { deps, partnerId } = context
  const begun = new Map<string, Date>()
  const endsAt = performance.now() + MAX_STREAM_MS
  let seq = after
  while (!signal.aborted && performance.now() < endsAt) {
    const events = await deps.logFollowers.nextEvents(runId, seq, signal, HEARTBEAT_MS)
    if (signal.aborted || !(await allowed())) return
    for (const event of events) {
      const startedAt = begun.get(event.attempt_id) ?? (await startOf(deps, event))
      begun.set(event.attempt_id, startedAt)
      for (const line of await logLines({ ...context, startedAt }, [event])) yield { event, line }
      seq = event.seq
    }
    if (events.length > 0) continue
    // Nobody else would notice that the process of a running attempt has died.
    await requireRun(deps, partnerId, runId)
    yield null
  }
}

/** When the attempt began: the time of its first line. */
const startOf = async ({ db }: Deps, { kind, attempt_id, at }: RunEvent): Promise<Date> =>
  kind === 'started' ? at : ((await findAttempt(db, attempt_id))?.started_at ?? at)
