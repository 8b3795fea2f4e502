import { availableParallelism } from 'node:os'
import { ALL_PROCESSES, type Contestant, type Name } from '../contestants/contestant.ts'
import type { Options } from '../options.ts'
import { spreadOf } from '../statistics.ts'
import type { Round, RunTurn } from '../turn-runner.ts'
import { WORKS, type Work, type WorkName } from '../works.ts'

export type Rounds = { readonly [work in WorkName]?: { readonly [name in Name]?: readonly Round[] } }

/** The first warm-up is longer: each process of a contestant still has to compile its code for the workload. */
const FIRST_WARM_UP = 3

/** Runs the workloads one after the other. Within one, contestants take turns, and each round starts with the next one. */
export async function runRounds(
  run: RunTurn,
  all: readonly Contestant[],
  options: Options,
  progress: (text: string) => void,
): Promise<Rounds> {
  const rounds: { [work in WorkName]?: { [name in Name]?: Round[] } } = {}
  for (const name of options.works) {
    const work: Work = WORKS[name]
    const turns = turnsOf(name, all, options)
    const found: { [name in Name]?: Round[] } = {}
    rounds[name] = found
    for (let round = 0; round < options.rounds; round++) {
      for (let at = 0; at < turns.length; at++) {
        const { label, contestant, work: asked } = turns[(round + at) % turns.length] as Turn
        const processes = contestant.name === ALL_PROCESSES ? availableParallelism() : 1
        const warmUpS = options.warmUpS * (round === 0 ? FIRST_WARM_UP * processes : 1)
        const plan = { work: asked, contestant, seconds: options.seconds, warmUpS, connections: options.connections }
        const { offered, overload } = work
        const perSecond =
          offered && offered.times * (await peak(rounds[offered.of]?.[label], run, { ...plan, work: offered.of }))
        const measured = await run({ ...plan, ...overload, perSecond })
        found[label] = [...(found[label] ?? []), measured]
        const rate = Math.round(measured.perSecond).toLocaleString('en')
        progress(`${work.title}, round ${round + 1} of ${options.rounds}: ${label} ${rate}/s`)
      }
    }
  }
  return rounds
}

interface Turn {
  readonly label: Name
  readonly contestant: Contestant
  readonly work: WorkName
}

/** The turns in each round of a workload. */
function turnsOf(name: WorkName, all: readonly Contestant[], options: Options): Turn[] {
  const work: Work = WORKS[name]
  const turns = all
    .filter((contestant) => takesPart(contestant, work, options))
    .map((contestant): Turn => ({ label: contestant.name, contestant, work: name }))
  const own = work.besideA5 && turns.find(({ label }) => label === 'gatehouse')
  return own ? [...turns, { ...own, label: 'gatehouse-a5', work: 'a5' }] : turns
}

/** The rate measured before or, if that workload was not run, measured in one turn now. */
async function peak(measured: readonly Round[] | undefined, run: RunTurn, plan: Parameters<RunTurn>[0]) {
  const rounds = measured ?? [await run(plan)]
  return spreadOf(rounds.map(({ perSecond }) => perSecond)).median
}

function takesPart({ name }: Contestant, { contestants }: Work, options: Options): boolean {
  if (name === 'wrong') return true
  return contestants.includes(name) && (options.contestants.includes(name) || name === 'gatehouse-10k')
}
