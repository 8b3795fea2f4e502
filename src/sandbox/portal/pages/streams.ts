import type { Deps } from '../../../platform/deps.ts'
import { tooManyRequests, unavailable } from '../../../platform/lib/web/rescode.ts'
import { findAttempt, type RunEvent } from '../../certification/index.ts'
import { type LineContext, type LogLine, logLine } from './log-line.ts'

/** Streams that are open at once: of one browser session (a tab each), of one partner, of this process. */
const MAX_STREAMS = { session: 12, partner: 120, process: 1_000 }
const RETRY_S = 5

/** The streams of lines that browsers follow. Each holds a connection, so they are counted, and all end at once. */
export class Streams {
  readonly #open = new Map<AbortController, { readonly session: string; readonly partner: bigint }>()

  get size(): number {
    return this.#open.size
  }

  /** `signal` aborts when the stream has to end. Throws 20003 (429) or 20013 (503), with Retry-After, when there are too many. */
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

  /** Called before the service stops: open streams would delay it. */
  closeAll(): void {
    for (const abort of [...this.#open.keys()]) abort.abort()
  }
}

/** Sent so often to keep proxies from closing the connection; the session is checked again with it. */
const HEARTBEAT_MS = 10_000

/** After that the browser connects again, perhaps to another process. */
const LONGEST_MS = 240_000

/** A line, or null: nothing has happened for a while. */
export type Followed = { readonly event: RunEvent; readonly line: LogLine } | null

export interface Following extends Omit<LineContext, 'startedAt'> {
  readonly runId: string
  /** Lines up to this one are known. */
  readonly after: number
  readonly signal: AbortSignal
  /** Whether the person who follows is still signed in. */
  readonly allowed: () => Promise<boolean>
}

/** The lines of a run as they happen, each once, until the signal, the end of the session, or some minutes end it. */
export async function* followLines({ runId, after, signal, allowed, ...context }: Following): AsyncGenerator<Followed> {
  const { deps } = context
  const begun = new Map<string, Date>()
  const endsAt = performance.now() + LONGEST_MS
  let seq = after
  while (!signal.aborted && performance.now() < endsAt) {
    const events = await deps.logFollowers.nextEvents(runId, seq, signal, HEARTBEAT_MS)
    if (signal.aborted || !(await allowed())) return
    for (const event of events) {
      const startedAt = begun.get(event.attempt_id) ?? (await startOf(deps, event))
      begun.set(event.attempt_id, startedAt)
      yield { event, line: await logLine({ ...context, startedAt }, event) }
      seq = event.seq
    }
    if (events.length === 0) yield null
  }
}

/** When the attempt began: its first line says so itself. */
const startOf = async ({ db }: Deps, { kind, attempt_id, at }: RunEvent): Promise<Date> =>
  kind === 'started' ? at : ((await findAttempt(db, attempt_id))?.started_at ?? at)
