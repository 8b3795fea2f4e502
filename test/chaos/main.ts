import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { command, progress, say, withEndings } from '../bench/command.ts'
import { describeMachine, machineText } from '../bench/machine.ts'
import { waitsText } from './calls.ts'
import { failover } from './failover/run.ts'
import { openGround } from './ground.ts'
import { HELP, type Options, readOptions, type ScenarioName } from './options.ts'
import type { Figure, Scenario } from './scenario.ts'
import { abandoned } from './scenarios/abandoned.ts'
import { bodies } from './scenarios/bodies.ts'
import { embedded } from './scenarios/embedded.ts'
import { connections, pipelining } from './scenarios/floods.ts'
import { hostile } from './scenarios/hostile.ts'
import { hung } from './scenarios/hung.ts'
import { locked } from './scenarios/locked.ts'
import { overload } from './scenarios/overload.ts'
import { rolling } from './scenarios/rolling.ts'
import { shutdown } from './scenarios/shutdown.ts'
import { takeHealth } from './service.ts'

/** `npm run chaos`: how the service behaves when its environment fails; see README.md in this folder. */

const SCENARIOS: Readonly<Record<ScenarioName, Scenario>> = {
  overload,
  hostile,
  hung,
  locked,
  bodies,
  pipelining,
  connections,
  abandoned,
  shutdown,
  rolling,
  embedded,
}

const HEALTH_FIGURE = '/healthz waits, asked five times a second all along'

const chaos = (options: Options): Promise<void> =>
  withEndings(async (endings) => {
    const ground = await openGround(options, endings, progress)
    const machine = { ...(await describeMachine(ground.world.pool)), commit: commitOf(options.checkout) }
    say(`\n${machineText(machine)}\n`)
    const figures: Partial<Record<ScenarioName, readonly Figure[]>> = {}
    for (const name of options.scenarios) {
      progress(`${name}:`)
      takeHealth() // discards earlier results
      const found = await SCENARIOS[name](ground)
      const health = takeHealth() // none of a scenario that was skipped
      const waits = health.length > 0 ? [{ figure: HEALTH_FIGURE, value: waitsText(health) }] : []
      figures[name] = [...found, ...waits]
      writeFileSync(options.output, JSON.stringify({ machine, options, figures }, null, 2))
    }
    say(`\n${tableOf(figures)}\n`)
    progress(`all figures are in ${options.output}`)
  })

function commitOf(checkout: string): string {
  try {
    return execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: checkout, encoding: 'utf8' }).trim()
  } catch {
    return 'unknown'
  }
}

function tableOf(figures: Partial<Record<ScenarioName, readonly Figure[]>>): string {
  const rows = Object.entries(figures).flatMap(([name, list]) =>
    list.map(({ figure, value }) => `| ${name} | ${figure} | ${value} |`),
  )
  return ['| Scenario | Figure | Value |', '| --- | --- | --- |', ...rows].join('\n')
}

await command(HELP, readOptions, (options) => (options.cases.length > 0 ? failover(options) : chaos(options)))
