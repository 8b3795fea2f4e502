import type { Contestant } from '../contestants/contestant.ts'
import type { Options } from '../options.ts'
import { spreadOf } from '../statistics.ts'
import type { Round, RunTurn } from '../turn-runner.ts'

export interface Soak {
  readonly seconds: number
  /** One after the other, ten seconds each, as fast as the service answers. */
  readonly rounds: readonly Round[]
  /** Resident memory at its highest, MB; undefined where the system has no /proc. */
  readonly mostMb: number | undefined
  /** Median of the last quarter over that of the second: 1 is flat, and the first quarter is warming up. */
  readonly growth: number | undefined
}

const SLICE_S = 10

/** Nine A5 and one A3 in ten requests, at peak rate for `seconds`: what happens to the memory. */
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
