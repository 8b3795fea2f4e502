import { randomUUID } from 'node:crypto'
import { type FastifyBaseLogger, LogController } from 'fastify'
import type { Log } from '../log.ts'
import type { Metrics } from '../metrics.ts'

/**
 * Lines a second: of one caller, of all, and as many again of our own faults, which no refusals may hide; the rest is
 * counted in the summary.
 */
const MAX_OF_CALLER = 10
const MAX_OF_ALL = 100
const WINDOW_MS = 1_000
const SUMMARY_EVERY_MS = 60_000
/** Kinds of refusals that a summary tells apart, and how many of them it names. */
const MAX_KINDS = 200
const NAMED_KINDS = 10

/** Options of Fastify: each request has an id, under which its lines are found; Fastify writes none itself. */
export const requestLogging = (log: Log) => ({
  loggerInstance: log as FastifyBaseLogger,
  logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'request' }),
  genReqId: () => randomUUID(),
})

export interface RequestLine {
  readonly level: 'info' | 'warn'
  /** Whose lines are counted together. */
  readonly caller: string
  /** Route, status and code: what the summary counts by. */
  readonly kind: string
  /** Only called for the line that is written. */
  readonly fields: () => object
}

/** How a line is written; a request's own log adds the request's id. */
type Writer = Pick<Log, 'info' | 'warn'>

/** The lines of this second. */
class LineBudget {
  readonly #lines = new Map<string, number>()
  #windowEndsAt = 0
  #ofAll = 0

  mayWrite(caller: string): boolean {
    const now = performance.now()
    if (now >= this.#windowEndsAt) {
      this.#windowEndsAt = now + WINDOW_MS
      this.#ofAll = 0
      this.#lines.clear()
    }
    if (this.#ofAll >= MAX_OF_ALL) return false
    const own = this.#lines.get(caller) ?? 0
    if (own >= MAX_OF_CALLER) return false
    this.#lines.set(caller, own + 1)
    this.#ofAll++
    return true
  }
}

/**
 * The lines of requests that were refused, failed or slow, with a limit, and once a minute a line with their number:
 * writing one costs about as much as answering, and callers decide how many there are.
 */
export class RequestLog {
  readonly #log: Log
  readonly #leftOut: Metrics['linesLeftOut']
  readonly #failed = new LineBudget()
  readonly #others = new LineBudget()
  readonly #kinds = new Map<string, number>()
  #timer: NodeJS.Timeout | undefined
  #requests = 0
  #counted = { refused: 0, failed: 0, slow: 0, leftOut: 0 }

  constructor(log: Log, leftOut: Metrics['linesLeftOut']) {
    this.#log = log
    this.#leftOut = leftOut
  }

  /** Counts every request; called before `write`. */
  seen(): void {
    this.#requests++
    this.#timer ??= setTimeout(() => this.summarize(), SUMMARY_EVERY_MS).unref()
  }

  write(what: 'refused' | 'failed' | 'slow', line: RequestLine, writer: Writer): void {
    this.#counted[what]++
    const kind = this.#kinds.has(line.kind) || this.#kinds.size < MAX_KINDS ? line.kind : 'other'
    this.#kinds.set(kind, (this.#kinds.get(kind) ?? 0) + 1)
    const share = what === 'failed' ? this.#failed : this.#others
    if (share.mayWrite(line.caller)) writer[line.level](line.fields(), 'request')
    else {
      this.#counted.leftOut++
      this.#leftOut.inc()
    }
  }

  /** Logs how many requests there were since the last summary; nothing if there were none. */
  summarize(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (this.#requests === 0) return
    const frequent = [...this.#kinds].sort(([, one], [, other]) => other - one).slice(0, NAMED_KINDS)
    const fields = { requests: this.#requests, ...this.#counted, kinds: Object.fromEntries(frequent) }
    this.#log.info(fields, 'requests of the last minute')
    this.#requests = 0
    this.#counted = { refused: 0, failed: 0, slow: 0, leftOut: 0 }
    this.#kinds.clear()
  }
}
