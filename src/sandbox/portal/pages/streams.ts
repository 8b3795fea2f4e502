import type { Deps } from '../../../platform/deps.ts'
import { tooManyRequests, unavailable } from '../../../platform/lib/web/rescode.ts'
import { findAttempt, type RunEvent, requireRun } from '../../certification/index.ts'
import { type LineContext, type LogLine, logLines } from './log-line.ts'

/** Simultaneous streams: per browser session (one per tab), per partner, and in this process. */
const MAX_STREAMS = { session: 12, partner: 120, process: 1_000 }
const RETRY_S = 5

/** The open streams. Each holds a connection, so they are limited, and can all be closed at once. */
export class Streams {
  readonly #open = new Map<AbortController, { readonly session: string; readonly partner: bigint }>()

  get size(): number {
    return this.#open.size
  }

  /**
   * `signal` aborts when the stream has to end. Throws 20003 (429) or 20013 (503), with Retry-After, if there are too
   * many.
   */
  open(session: string, partner: bigint) {
    const all = [...this.#open.values()]
    if (all.length >= MAX_STREAMS.process) throw unavailable()
    if (all.filter((stream) => stream.session === session).length >= MAX_STREAMS.session) throw tooManyRequests(RETRY_S)
    if (all.filter((stream) => stream.partner === partner).length >= MAX_STREAMS.partner) throw tooManyRequests(RETRY_S)
    const abort = new AbortController()
    this.#open.set(abort, { session, partner })
    const close = () => {
      this.#open.delete(abort)
      abort.abort()
    }
    return { signal: abort.signal, close }
  }

  /** Called before shutdown, which open streams would delay. */
  closeAll(): void {
    for (const abort of [...this.#open.keys()]) abort.abort()
  }
}

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

/**
 * The log lines of a run as they happen, each once, and null if there was none for a while. Ends with the signal, the
 * session, or after some minutes.
 */
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
