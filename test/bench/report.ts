import type { Verdict } from './goals.ts'
import type { PurgeRun } from './phases/purge.ts'
import type { Rounds } from './phases/rounds.ts'
import { type Spread, spreadOf } from './statistics.ts'
import type { Round } from './turn-runner.ts'
import { WORK_NAMES, WORKS } from './works.ts'

/** A Markdown table, aligned to be readable in a terminal too. */

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => (row[column] ?? '').length)))
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`
  const rule = `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`
  return [line(head), rule, ...rows.map(line)].join('\n')
}

const whole = (value: number): string => Math.round(value).toLocaleString('en')
const short = (value: number): string => (value >= 100 ? whole(value) : value.toPrecision(value >= 10 ? 3 : 2))

const withSpread = ({ median, least, most }: Spread, write: (value: number) => string): string =>
  `${write(median)} (${write(least)}–${write(most)})`

/** Processor time of service and PostgreSQL. Unlike a rate it does not depend on what the load takes. */
const cpuOf = (list: readonly Round[]): number => {
  const values = list.map(({ cpuMsPer1000 = 0, databaseCpuMsPer1000 = 0 }) => cpuMsPer1000 + databaseCpuMsPer1000)
  return values.length > 0 ? spreadOf(values).median : 0
}

export function resultTable(rounds: Rounds): string {
  const head = [
    'Work',
    'Contestant',
    'requests/s',
    'p50 ms',
    'p99 ms',
    'CPU ms/1000',
    'PostgreSQL CPU',
    'both, × gatehouse',
    'RSS MB',
    'load CPU',
  ]
  const rows = WORK_NAMES.flatMap((work) => {
    const own = cpuOf(rounds[work]?.gatehouse ?? [])
    return Object.entries(rounds[work] ?? {}).map(([name, list]) => {
      const median = (figure: (round: Round) => number | undefined): string => {
        const values = list.flatMap((round) => figure(round) ?? [])
        return values.length > 0 ? short(spreadOf(values).median) : 'n/a'
      }
      const rates = spreadOf(list.map(({ perSecond }) => perSecond))
      return [
        WORKS[work].title,
        name,
        withSpread(rates, whole),
        median((round) => round.p50),
        median((round) => round.p99),
        median((round) => round.cpuMsPer1000),
        median((round) => round.databaseCpuMsPer1000),
        own > 0 ? short(cpuOf(list) / own) : 'n/a',
        median((round) => round.residentMb),
        `${median((round) => round.generatorShare * 100)} %`,
      ]
    })
  })
  return table(head, rows)
}

export function goalTable(verdicts: readonly Verdict[]): string {
  const measured = verdicts.filter(({ figure }) => figure !== undefined)
  const rows = measured.map(({ goal, limit, figure, unit, pass }) => [
    goal,
    limit,
    figure ? `${withSpread(figure, short)} ${unit}`.trim() : '',
    pass ? 'pass' : 'MISS',
  ])
  return table(['Goal', 'Limit', 'Median (least–most)', ''], rows)
}

export function purgeText({ rows, seconds, before, during, after }: PurgeRun): string {
  const rate = (list: readonly Round[]) => withSpread(spreadOf(list.map(({ perSecond }) => perSecond)), whole)
  const slow = (list: readonly Round[]) => short(spreadOf(list.map(({ p99 }) => p99)).median)
  const lines = [
    ['before', rate(before), slow(before)],
    [`during: ${whole(rows)} rows in ${whole(seconds)} s`, rate(during), slow(during)],
    ['after', rate(after), slow(after)],
  ]
  return table(['A5 and the purge', 'requests/s', 'p99 ms'], lines)
}
