import type { Name } from './contestants/contestant.ts'
import type { Round, Rounds } from './measure.ts'
import { ratios, type Spread, spreadOf } from './statistics.ts'
import type { WorkName } from './works.ts'

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
  readonly figure: (rounds: Rounds) => readonly number[]
}

const of = (rounds: Rounds, work: WorkName, name: Name, figure: (round: Round) => number): number[] =>
  (rounds[work]?.[name] ?? []).map(figure)

const rates = (rounds: Rounds, work: WorkName, name: Name): number[] => of(rounds, work, name, (r) => r.perSecond)

const times =
  (work: WorkName, other: Name) =>
  (rounds: Rounds): number[] =>
    ratios(rates(rounds, work, 'gatehouse'), rates(rounds, work, other))

const used = (work: WorkName) => (rounds: Rounds) => of(rounds, work, 'gatehouse', (r) => r.connectionsUsed)

/** The goals that rounds decide, in the order of the design's table. */
const GOALS: readonly Goal[] = [
  { goal: 'A5 against plain', atLeast: 2, unit: '×', figure: times('a5', 'plain') },
  { goal: 'A5 against bare', atLeast: 0.45, unit: '×', figure: times('a5', 'bare') },
  { goal: 'A5 against oidc-provider introspection', atLeast: 4, unit: '×', figure: times('a5', 'oidc-provider') },
  { goal: 'A2 exchange against plain', atLeast: 2, unit: '×', figure: times('exchange', 'plain') },
  { goal: 'A2 exchange against oidc-provider', atLeast: 2.5, unit: '×', figure: times('exchange', 'oidc-provider') },
  { goal: 'A3 refresh against plain', atLeast: 2, unit: '×', figure: times('refresh', 'plain') },
  { goal: 'A3 refresh against oidc-provider', atLeast: 2.5, unit: '×', figure: times('refresh', 'oidc-provider') },
  { goal: 'A3 rotating refresh against plain', atLeast: 2, unit: '×', figure: times('rotate', 'plain') },
  { goal: 'notices against plain', atLeast: 2, unit: '×', figure: times('notices', 'plain') },
  { goal: 'forged tokens against bare', atLeast: 0.7, unit: '×', figure: times('forged', 'bare') },
  { goal: 'malformed tokens against bare', atLeast: 0.7, unit: '×', figure: times('malformed', 'bare') },
  { goal: 'database connections used for forged tokens', atMost: 0, unit: '', figure: used('forged') },
  { goal: 'database connections used for malformed tokens', atMost: 0, unit: '', figure: used('malformed') },
]

/** The median decides. */
export function judge(goal: Omit<Goal, 'figure'>, values: readonly number[]): Verdict {
  const { atLeast, atMost, unit } = goal
  const limit = atLeast === undefined ? `≤ ${atMost} ${unit}` : `≥ ${atLeast} ${unit}`
  const figure = values.length > 0 ? spreadOf(values) : undefined
  const pass = figure && figure.median >= (atLeast ?? 0) && figure.median <= (atMost ?? Number.POSITIVE_INFINITY)
  return { goal: goal.goal, limit: limit.trim(), figure, unit, pass }
}

export const verdicts = (rounds: Rounds): Verdict[] => GOALS.map((goal) => judge(goal, goal.figure(rounds)))
