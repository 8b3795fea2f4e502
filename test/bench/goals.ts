import { availableParallelism } from 'node:os'
import { ALL_PROCESSES, type Name } from './contestants/contestant.ts'
import type { PurgeRun } from './phases/purge.ts'
import type { Rounds } from './phases/rounds.ts'
import type { Soak } from './phases/soak.ts'
import { ratios, type Spread, spreadOf } from './statistics.ts'
import type { Round } from './turn-runner.ts'
import type { WorkName } from './works.ts'

/** Everything that a run measures. */
export interface Results {
  readonly rounds: Rounds
  /** Seconds from `npm start` to the first answer. */
  readonly coldStarts: readonly number[]
  readonly soak?: Soak
  readonly purge?: PurgeRun
}

export interface Verdict {
  readonly goal: string
  /** As text with its unit, such as `≥ 2.0 ×`. */
  readonly limit: string
  /** Undefined: not measured in this run. */
  readonly figure: Spread | undefined
  readonly unit: string
  readonly pass: boolean | undefined
}

interface Goal {
  readonly goal: string
  readonly unit: string
  readonly atLeast?: number
  readonly atMost?: number
  readonly figure: (results: Results) => readonly number[]
}

const of = ({ rounds }: Results, work: WorkName, name: Name, figure: (round: Round) => number): number[] =>
  (rounds[work]?.[name] ?? []).map(figure)

const rates = (results: Results, work: WorkName, name: Name): number[] => of(results, work, name, (r) => r.perSecond)

const times =
  (work: WorkName, other: Name) =>
  (results: Results): number[] =>
    ratios(rates(results, work, 'gatehouse'), rates(results, work, other))

/** userinfo compared with A5, turn by turn. */
const timesA5 = (results: Results): number[] =>
  ratios(rates(results, 'userinfo', 'gatehouse'), rates(results, 'userinfo', 'gatehouse-a5'))

/** Speed-up by a process for each core, divided by the cores; below 1, as PostgreSQL and the load need CPU too. */
const timesOneACore = (results: Results): number[] =>
  ratios(rates(results, 'a5', ALL_PROCESSES), rates(results, 'a5', 'gatehouse')).map(
    (times) => times / availableParallelism(),
  )

const used = (work: WorkName) => (results: Results) => of(results, work, 'gatehouse', (r) => r.lastStatements.length)

/** Compared with the p50 at peak if that is smaller: a turn that cannot keep up is slow throughout and must not pass. */
function tailAtHalf(results: Results): number[] {
  const atPeak = of(results, 'a5', 'gatehouse', ({ p50 }) => p50)
  const most = atPeak.length > 0 ? spreadOf(atPeak).median : Number.POSITIVE_INFINITY
  return of(results, 'half', 'gatehouse', ({ p50, p99 }) => p99 / Math.min(p50, most))
}

const tailBesideSignIns = (results: Results): number[] => {
  const p99 = (work: WorkName) => of(results, work, 'gatehouse', (round) => round.p99)
  return ratios(p99('sign-ins'), p99('half'))
}

const known = (value: number | undefined): number[] => (value === undefined ? [] : [value])

/** The performance goals: ratios to other contestants on the same machine, never absolute rates. */
const GOALS: readonly Goal[] = [
  { goal: 'A5 against plain', atLeast: 2, unit: '×', figure: times('a5', 'plain') },
  { goal: 'A5 against bare', atLeast: 0.45, unit: '×', figure: times('a5', 'bare') },
  { goal: 'A5 against oidc-provider introspection', atLeast: 4, unit: '×', figure: times('a5', 'oidc-provider') },
  { goal: 'A2 exchange against plain', atLeast: 2, unit: '×', figure: times('exchange', 'plain') },
  { goal: 'A2 exchange against oidc-provider', atLeast: 2.5, unit: '×', figure: times('exchange', 'oidc-provider') },
  { goal: 'A3 refresh against plain', atLeast: 2, unit: '×', figure: times('refresh', 'plain') },
  { goal: 'A3 refresh against oidc-provider', atLeast: 2.5, unit: '×', figure: times('refresh', 'oidc-provider') },
  { goal: 'A3 rotating refresh against plain', atLeast: 2, unit: '×', figure: times('rotate', 'plain') },
  { goal: 'userinfo against A5', atLeast: 0.9, unit: '×', figure: timesA5 },
  { goal: 'introspection against oidc-provider', atLeast: 2, unit: '×', figure: times('introspect', 'oidc-provider') },
  {
    goal: 'code exchange with an id_token against oidc-provider',
    atLeast: 1,
    unit: '×',
    figure: times('id-token', 'oidc-provider'),
  },
  { goal: 'notices against plain', atLeast: 1.5, unit: '×', figure: times('notices', 'plain') },
  { goal: 'notices against checked', atLeast: 3, unit: '×', figure: times('notices', 'checked') },
  { goal: 'forged tokens against bare', atLeast: 0.7, unit: '×', figure: times('forged', 'bare') },
  { goal: 'malformed tokens against bare', atLeast: 0.7, unit: '×', figure: times('malformed', 'bare') },
  { goal: 'database connections used for forged tokens', atMost: 0, unit: '', figure: used('forged') },
  { goal: 'database connections used for malformed tokens', atMost: 0, unit: '', figure: used('malformed') },
  { goal: 'A5 with many tokens against 10 thousand', atLeast: 0.85, unit: '×', figure: times('a5', 'gatehouse-10k') },
  {
    goal: 'A5 at half of its peak rate: p99 against p50',
    atMost: 5,
    unit: '×',
    figure: tailAtHalf,
  },
  {
    goal: 'A5 at half of its peak rate: answers per request due',
    atLeast: 0.95,
    unit: '×',
    figure: (results) =>
      of(results, 'half', 'gatehouse', ({ perSecond, duePerSecond = perSecond }) => perSecond / duePerSecond),
  },
  { goal: 'A5 beside sign-ins: p99 against p99 without', atMost: 2, unit: '×', figure: tailBesideSignIns },
  {
    goal: 'A3 offered at five times its peak rate: answers against the peak',
    atLeast: 0.8,
    unit: '×',
    figure: (results) => ratios(rates(results, 'overload', 'gatehouse'), rates(results, 'refresh', 'gatehouse')),
  },
  {
    goal: 'A3 offered at five times its peak rate: slowest answer or refusal',
    atMost: 3,
    unit: 's',
    figure: (results) => of(results, 'overload', 'gatehouse', ({ slowest }) => slowest / 1000),
  },
  { goal: 'A5 with all processes, a core, against one', atLeast: 0.8, unit: '×', figure: timesOneACore },
  { goal: 'memory at peak', atMost: 200, unit: 'MB', figure: ({ soak }) => known(soak?.mostMb) },
  { goal: 'memory, last quarter against second', atMost: 1.1, unit: '×', figure: ({ soak }) => known(soak?.growth) },
  { goal: 'cold npm start to the first answer', atMost: 4, unit: 's', figure: ({ coldStarts }) => coldStarts },
]

/** The median decides; if the limit is zero, the worst round does. */
export function judge(goal: Omit<Goal, 'figure'>, values: readonly number[]): Verdict {
  const { atLeast, atMost, unit } = goal
  const limit = atLeast === undefined ? `≤ ${atMost} ${unit}` : `≥ ${atLeast} ${unit}`
  const figure = values.length > 0 ? spreadOf(values) : undefined
  const decisive = atMost === 0 ? 'most' : 'median'
  const pass = figure && figure[decisive] >= (atLeast ?? 0) && figure[decisive] <= (atMost ?? Number.POSITIVE_INFINITY)
  return { goal: goal.goal, limit: limit.trim(), figure, unit, pass }
}

export const verdicts = (results: Results): Verdict[] => GOALS.map((goal) => judge(goal, goal.figure(results)))
