import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './contestants/contestant.ts'
import { verdicts } from './goals.ts'
import { describeMachine, machineText } from './machine.ts'
import { runRounds } from './measure.ts'
import { BadOption, HELP, type Options, readOptions } from './options.ts'
import { goalTable, resultTable } from './report.ts'
import { setStage } from './stage.ts'

/** `npm run bench`: README, "Performance". Ends with 1 when an answer was wrong or anything failed, never for a goal missed. */

const say = (text: string): boolean => process.stdout.write(`${text}\n`)
const began = performance.now()
const progress = (text: string): boolean =>
  process.stderr.write(`${((performance.now() - began) / 1000).toFixed(0).padStart(4)} s  ${text}\n`)

async function bench(options: Options): Promise<void> {
  const stage = await setStage(options, progress)
  try {
    const machine = await describeMachine(stage.world.pool)
    say(`\n${machineText(machine)}\n`)
    const rounds = await runRounds(stage, options, progress)
    const goals = verdicts(rounds)
    say(`\n${resultTable(rounds)}\n\n${goalTable(goals)}\n`)
    const output = options.output ?? join(ROOT, '.data', 'bench.json')
    writeFileSync(output, JSON.stringify({ machine, options, goals, rounds }, null, 2))
    progress(`all figures are in ${output}`)
  } finally {
    await stage.stop()
  }
}

try {
  const options = readOptions(process.argv.slice(2))
  if (options === 'help') say(HELP)
  else await bench(options)
} catch (error) {
  const known = error instanceof BadOption
  process.stderr.write(`${known ? error.message : (error as Error).stack}\n`)
  process.exitCode = 1
}
