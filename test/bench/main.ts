import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { command, progress, say, withEndings } from './command.ts'
import { type Contestant, ROOT } from './contestants/contestant.ts'
import { type Results, verdicts } from './goals.ts'
import { describeMachine, machineText } from './machine.ts'
import { HELP, type Options, readOptions } from './options.ts'
import { coldStart } from './phases/cold-start.ts'
import { measurePurge } from './phases/purge.ts'
import { runRounds } from './phases/rounds.ts'
import { soak } from './phases/soak.ts'
import { goalTable, purgeText, resultTable } from './report.ts'
import { type Stage, setStage } from './stage.ts'
import { turnRunner } from './turn-runner.ts'

/** `npm run bench`: see README.md in this folder. Exits with 1 on a wrong response or another failure, not for a missed goal. */

async function bench(options: Options): Promise<void> {
  const coldStarts: number[] = []
  while (coldStarts.length < options.coldStarts) {
    coldStarts.push(await coldStart())
    progress(`npm start on an empty data folder: ${coldStarts.at(-1)?.toFixed(1)} s`)
  }
  await withEndings(async (endings) => {
    const stage = await setStage(options, endings, progress)
    const world = stage.worldOf('gatehouse')
    const machine = await describeMachine(world.pool)
    say(`\n${machineText(machine)}\n`)
    const results = await measure(stage, coldStarts, options)
    const goals = verdicts(results)
    say(`\n${resultTable(results.rounds)}\n\n${goalTable(goals)}\n`)
    if (results.purge) say(`${purgeText(results.purge)}\n`)
    const output = options.output ?? join(ROOT, '.data', 'bench.json')
    writeFileSync(output, JSON.stringify({ machine, options, goals, ...results }, null, 2))
    progress(`all figures are in ${output}`)
  })
}

async function measure(stage: Stage, coldStarts: readonly number[], options: Options): Promise<Results> {
  const run = turnRunner(stage)
  const gatehouse = stage.contestants.get('gatehouse') as Contestant
  const rounds = await runRounds(run, [...stage.contestants.values()], options, progress)
  const purge = options.purge && (await measurePurge(run, gatehouse, stage.worldOf('gatehouse'), options, progress))
  const soaked = options.soakS > 0 && (await soak(run, gatehouse, options, progress))
  return { rounds, coldStarts, ...(purge ? { purge } : {}), ...(soaked ? { soak: soaked } : {}) }
}

await command(HELP, readOptions, bench)
