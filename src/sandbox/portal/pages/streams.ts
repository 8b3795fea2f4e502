import { tooManyRequests, unavailable } from '../../../platform/lib/web/rescode.ts'

/** Streams that are open at once: of one browser session (a tab each), of one partner, of this process. */
const MAX_STREAMS = { session: 12, partner: 120, process: 1_000 }
const RETRY_S = 5

export interface Stream {
  /** Aborts when the stream has to end. */
  readonly signal: AbortSignal
  close(): void
}

/** The streams of lines that browsers follow. Each holds a connection, so they are counted, and all end at once. */
export class Streams {
  readonly #open = new Map<AbortController, { readonly session: string; readonly partner: bigint }>()

  get size(): number {
    return this.#open.size
  }

  /** Throws 20003 (429) or 20013 (503), with Retry-After, when there are too many. */
  open(session: string, partner: bigint): Stream {
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
