/** A summary of several rounds: the median and the range. */
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

/** By nearest rank; `share` is from 0 to 1, `sorted` is ascending and not empty. */
export function percentile(sorted: ArrayLike<number>, share: number): number {
  const value = sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)]
  if (value === undefined) throw new Error('no values')
  return value
}

/** Ratios round by round, because disturbances of the machine affect turns that are close in time alike. */
export const ratios = (of: readonly number[], to: readonly number[]): number[] =>
  of.slice(0, to.length).map((value, round) => value / (to[round] as number))
