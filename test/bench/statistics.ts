/** What is made of several rounds: the middle one, and how far the others are from it. */
export interface Spread {
  readonly median: number
  readonly least: number
  readonly most: number
}

export function spreadOf(values: readonly number[]): Spread {
  if (values.length === 0) throw new Error('no values')
  const sorted = [...values].sort((one, other) => one - other)
  const middle = sorted.length >> 1
  const upper = sorted[middle] as number
  const median = sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] as number) + upper) / 2
  return { median, least: sorted[0] as number, most: sorted.at(-1) as number }
}

/** Nearest rank; `share` from 0 to 1, `sorted` ascending and not empty. */
export function percentile(sorted: ArrayLike<number>, share: number): number {
  const value = sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)]
  if (value === undefined) throw new Error('no values')
  return value
}

/** Round by round, because what disturbs a machine disturbs neighbours in time alike. */
export const ratios = (of: readonly number[], to: readonly number[]): number[] =>
  of.slice(0, to.length).map((value, round) => value / (to[round] as number))
