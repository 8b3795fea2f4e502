import { DatabaseUnavailable } from './database-errors.ts'
import type { Log } from './log.ts'

interface SampledLine {
  readonly level: 'info' | 'warn' | 'error'
  /** Lines of one kind are sampled together. One of a few fixed texts, never from a caller. */
  readonly kind: string
  readonly message: string
  /** Called only for lines that are written. */
  readonly fields?: () => object
}

/**
 * A log for lines that many requests could cause: the first of a kind is written at once, those that follow within a
 * minute are only counted, and a line at the end of that minute says how many there were.
 */
export interface SampledLog {
  /** `log`: a request's own, which adds the request's id. */
  write(line: SampledLine, log?: Pick<Log, SampledLine['level']>): void
  /** Logs how many lines have been left out so far. */
  close(): void
}

/** Logs a failure of work that no request waits for. An unavailable database is left to the requests, which log it. */
export function logBackgroundFailure(log: SampledLog, message: string, err: unknown): void {
  if (err instanceof DatabaseUnavailable) return
  log.write({ level: 'error', kind: message, message, fields: () => ({ err }) })
}

type Sample = { readonly line: SampledLine; readonly endsAt: number; leftOut: number }

const EVERY_MS = 60_000
/** Further kinds share one sample, so that an unbounded kind, a bug, cannot flood the log. */
const MAX_KINDS = 200

export function openSampledLog(log: Log, everyMs = EVERY_MS): SampledLog {
  const samples = new Map<string, Sample>()
  let timer: NodeJS.Timeout | undefined

  const summarize = ({ line, leftOut }: Sample): void => {
    if (leftOut > 0) log[line.level]({ kind: line.kind, leftOut }, `${line.message} (similar lines left out)`)
  }
  /** Summarizes expired samples; runs once a minute while there are any. */
  const endSamples = (): void => {
    const now = performance.now()
    for (const [kind, sample] of samples) {
      if (sample.endsAt > now) continue
      samples.delete(kind)
      summarize(sample)
    }
    timer = samples.size > 0 ? setTimeout(endSamples, everyMs).unref() : undefined
  }

  return {
    write: (line, writer = log) => {
      if (!log.isLevelEnabled(line.level)) return
      const now = performance.now()
      const kind = samples.has(line.kind) || samples.size < MAX_KINDS ? line.kind : 'other'
      const sample = samples.get(kind)
      if (sample && sample.endsAt > now) {
        sample.leftOut += 1
        return
      }
      if (sample) summarize(sample)
      samples.set(kind, { line: { ...line, kind }, endsAt: now + everyMs, leftOut: 0 })
      writer[line.level]({ kind: line.kind, ...line.fields?.() }, line.message)
      timer ??= setTimeout(endSamples, everyMs).unref()
    },
    close: () => {
      clearTimeout(timer)
      timer = undefined
      for (const sample of samples.values()) summarize(sample)
      samples.clear()
    },
  }
}
