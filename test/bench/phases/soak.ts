import type { Contestant } from '../contestants/contestant.ts'
import type { Options } from '../options.ts'
import { spreadOf } from '../statistics.ts'
import type { Round, RunTurn } from '../turn-runner.ts'

export interface Soak {
  readonly seconds: number
  /** Consecutive rounds of ten seconds at peak rate. */
  readonly rounds: readonly Round[]
  /** Maximum of resident memory, MB; undefined on systems without /proc. */
  readonly mostMb: number | undefined
  /** Median of the last quarter divided by that of the second: 1 means no growth. The first quarter is warm-up. */
  readonly growth: number | undefined
}

const SLICE_S = 10

/** Measures memory under nine A5 to one A3 request at peak rate for `seconds`. */
export async function soak(
  run: RunTurn,
  gatehouse: Contestant,
  { soakS: seconds, connections }: Options,
  progress: (text: string) => void,
): Promise<Soak> {
  const rounds: Round[] = []
  for (let done = 0; done < seconds; done += SLICE_S) {
    const round = await run({ work: 'mixed', contestant: gatehouse, seconds: SLICE_S, warmUpS: 0, connections })
    rounds.push(round)
    progress(`at peak for ${done + SLICE_S} s: ${round.perSecond.toFixed(0)}/s, ${round.residentMb?.toFixed(0)} MB`)
  }
  const residents = rounds.flatMap(({ residentMb }) => residentMb ?? [])
  return {
    seconds,
    rounds,
    mostMb: residents.length > 0 ? Math.max(...residents) : undefined,
    growth: growthOf(residents),
  }
}

/** Undefined for fewer than four values. */
export function growthOf(values: readonly number[]): number | undefined {
  const quarter = Math.floor(values.length / 4)
  if (quarter === 0) return undefined
  const second = spreadOf(values.slice(quarter, 2 * quarter))
  return spreadOf(values.slice(-quarter)).median / second.median
}
