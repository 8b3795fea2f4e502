import { randomUUID } from 'node:crypto'
import { type FastifyBaseLogger, LogController } from 'fastify'
import type { Log } from '../log.ts'
import type { Metrics } from '../metrics.ts'

/** Lines per second and caller, and in total; errors of our own have the same separately. Others are only counted. */
const MAX_PER_CALLER = 10
const MAX_TOTAL = 100
const WINDOW_MS = 1_000
const SUMMARY_EVERY_MS = 60_000
/** Kinds of refusals that are counted separately, and how many of them a summary names. */
const MAX_KINDS = 200
const NAMED_KINDS = 10

/** Fastify options: each request has an id, which its log lines carry; Fastify logs no requests itself. */
export const requestLogging = (log: Log) => ({
  loggerInstance: log as FastifyBaseLogger,
  logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'request' }),
  genReqId: () => randomUUID(),
})

interface RequestLine {
  readonly level: 'info' | 'warn'
  /** Whose limit the line counts against. */
  readonly caller: string
  /** Route, status and code, by which the summary counts. */
  readonly kind: string
  /** Called only for lines that are written. */
  readonly fields: () => object
}

class LineBudget {
  readonly #lines = new Map<string, number>()
  #windowEndsAt = 0
  #total = 0

  mayWrite(caller: string): boolean {
    const now = performance.now()
    if (now >= this.#windowEndsAt) {
      this.#windowEndsAt = now + WINDOW_MS
      this.#total = 0
      this.#lines.clear()
    }
    if (this.#total >= MAX_TOTAL) return false
    const own = this.#lines.get(caller) ?? 0
    if (own >= MAX_PER_CALLER) return false
    this.#lines.set(caller, own + 1)
    this.#total++
    return true
  }
}

/** Logs requests up to a limit, and once a minute how many there were: a line costs about as much as an answer. */
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

  /** `log` is the request's own, which adds the request's id. */
  write(what: 'refused' | 'failed' | 'slow', line: RequestLine, log: Pick<Log, 'info' | 'warn'>): void {
    this.#counted[what]++
    const kind = this.#kinds.has(line.kind) || this.#kinds.size < MAX_KINDS ? line.kind : 'other'
    this.#kinds.set(kind, (this.#kinds.get(kind) ?? 0) + 1)
    const share = what === 'failed' ? this.#failed : this.#others
    if (share.mayWrite(line.caller)) log[line.level](line.fields(), 'request')
    else {
      this.#counted.leftOut++
      this.#leftOut.inc()
    }
  }

  /** Logs the number of requests since the last summary, if there were any. */
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
