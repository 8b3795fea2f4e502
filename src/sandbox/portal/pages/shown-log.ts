import type { OutputOf } from '../../../platform/lib/json/input.ts'
import type { Translate } from '../../../platform/lib/web/locale.ts'
import type { findAttempt, RunDeps, RunEvent, showRun } from '../../certification/index.ts'
import { type LogLine, logLines } from './log-line.ts'
import { shownState } from './run-parts.ts'

type AttemptRow = NonNullable<OutputOf<typeof findAttempt>>
type AttemptWithWarnings = OutputOf<typeof showRun>['steps'][number]['attempts'][number]

export type ShownLog = Awaited<ReturnType<typeof shownLog>>

export async function shownLog(
  deps: RunDeps,
  partnerId: bigint,
  attempt: AttemptRow,
  events: readonly RunEvent[],
  t: Translate,
  shared: boolean,
) {
  const context = { deps, partnerId, t, startedAt: attempt.started_at, shared }
  const plain = await logLines(context, events)
  const unfolded = exchangesThatFailed(events)
  const lines = plain.map((line) => (unfolded.has(line.seq) ? { ...line, open: true } : line))
  const checks = lines.filter(({ kind }) => kind === 'check')
  const running = attempt.outcome === null
  return {
    attemptId: attempt.attempt_id,
    number: attempt.number,
    running,
    /** In order; what passed is folded, so that failures and current activity stay in sight. */
    lines: withFolded(lines, running),
    /** Failed checks, by level. */
    failures: checks.filter(({ tone }) => tone === 'bad'),
    warnings: checks.filter(({ tone }) => tone === 'warning'),
  }
}

const isPassedCheck = ({ kind, tone }: LogLine): boolean => kind === 'check' && tone === 'good'
const isFineCall = ({ kind, tone }: LogLine): boolean => kind === 'calling' || (kind === 'call' && tone === 'plain')

/** Folds each successful call of ours into one line; in other exchanges, two or more passed checks in a row. */
export function withFolded(lines: readonly LogLine[], running: boolean): (LogLine | FoldedLines)[] {
  const exchanges = exchangesOf(lines)
  return exchanges.flatMap((exchange, at) => (running && at === exchanges.length - 1 ? exchange : folded(exchange)))
}

/** Groups each call with the checks that follow it. */
function exchangesOf(lines: readonly LogLine[]): LogLine[][] {
  const exchanges: LogLine[][] = []
  for (const line of lines) {
    const last = exchanges.at(-1)
    const isItsAnswer = line.kind === 'call' && last?.at(-1)?.kind === 'calling'
    if (last && (line.kind === 'check' || isItsAnswer)) last.push(line)
    else exchanges.push([line])
  }
  return exchanges
}

function folded(exchange: readonly LogLine[]): (LogLine | FoldedLines)[] {
  const call = exchange.find(({ kind }) => kind === 'call')
  if (call && exchange.every((line) => isFineCall(line) || isPassedCheck(line))) return [foldedAs(call.text, exchange)]
  const shown: (LogLine | FoldedLines)[] = []
  let row: LogLine[] = []
  const close = () => {
    shown.push(...(row.length > 1 ? [foldedAs('', row)] : row))
    row = []
  }
  for (const line of exchange) {
    if (isPassedCheck(line)) {
      row.push(line)
      continue
    }
    close()
    shown.push(line)
  }
  close()
  return shown
}

/** A successful exchange, or several passed checks in a row. */
type FoldedLines = ReturnType<typeof foldedAs>

const foldedAs = (title: string, lines: readonly LogLine[]) => ({
  seq: lines[0]?.seq ?? 0,
  /** The exchange in words; empty if only checks are folded. */
  title,
  checks: lines.filter(isPassedCheck).length,
  folded: lines,
})

/** Line numbers of exchanges with a failed check, shown unfolded. Checks belong to the exchange before them. */
function exchangesThatFailed(events: readonly RunEvent[]): Set<number> {
  const failed = new Set<number>()
  let exchange: number | undefined
  for (const event of events) {
    if (event.kind === 'call' || event.kind === 'notice') exchange = event.seq
    if (event.kind !== 'check' || event.data.passed || exchange === undefined) continue
    if (event.data.level !== 'warning') failed.add(exchange)
  }
  return failed
}

/** A link to one of a step's attempts. */
export const attemptLink = (
  { number, outcome, warnings }: AttemptWithWarnings,
  page: string,
  shown: boolean,
  t: Translate,
) => ({
  number,
  href: `${page}&attempt=${number}`,
  shown,
  ...shownState(outcome ?? 'running', warnings, t),
})
