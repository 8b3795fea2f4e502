import type { Command } from 'commander'
import { z } from 'zod'
import type { CliContext } from './context.ts'
import { print } from './report.ts'
import { callerCommand, callerFields, oneCaller } from './sandbox-caller.ts'
import { contactsCommand } from './sandbox-contacts.ts'
import { type DemoPartner, runSandbox, sandboxRun } from './sandbox-run.ts'
import { runAnswer, runsAnswer, type ShownRun, type ShownSummary } from './sandbox-wire.ts'
import { aligned, readable } from './text.ts'

function stateOf({ state, current_step }: ShownSummary): string {
  if (state === 'under_way') return `at ${current_step}`
  return { all_passed: 'all steps passed', accepted: 'passed', replaced: 'overwritten' }[state]
}

function runText({ steps, ...run }: ShownRun): string {
  const rows = steps.map(({ id, name, state, running, current, attempts }, at) => [
    current ? '>' : '',
    String(at + 1),
    id,
    running ? 'running' : state,
    String(attempts.length),
    name,
  ])
  return [
    `run ${run.number}  ${run.run_id}  ${stateOf(run)}  since ${run.created_at}`,
    '',
    aligned([['', '#', 'STEP', 'STATE', 'ATTEMPTS', 'NAME'], ...rows]),
  ].join('\n')
}

function runTable(runs: readonly ShownSummary[]): string {
  if (runs.length === 0) return 'no runs yet'
  const rows = runs.map((run) => [
    String(run.number),
    run.run_id,
    run.created_at,
    readable(run.passed_at),
    stateOf(run),
  ])
  return aligned([['#', 'RUN_ID', 'SINCE', 'PASSED', 'STATE'], ...rows])
}

const oneRun = z
  .strictObject({ ...callerFields, run_id: z.string().default('present').meta({ apiOnly: true }) })
  .superRefine(oneCaller)

/** `gatehouse sandbox …`: a partner's test run, over the headless API of a running service. */
export function sandboxCommands(program: Command, context: CliContext, demo: DemoPartner): void {
  const { terminal } = context
  const sandbox = program.command('sandbox').description("a partner's test run, as the partner")
  const run = sandbox.command('run').description('run every step; exits with 0 once the run has passed')
  callerCommand(run, context, sandboxRun, (input, json) => runSandbox(context, demo, input, json))

  contactsCommand(sandbox, context)

  const show = sandbox.command('show').description('the current run, or one by its id, step by step')
  callerCommand(show.argument('[run_id]'), context, oneRun, async ({ run_id }, json, open) => {
    const { run: shown } = await (await open()).get(runAnswer, `/runs/${encodeURIComponent(run_id)}`)
    print(terminal, json, shown, runText)
  })

  const list = sandbox.command('list').description('the runs of a partner, newest first')
  callerCommand(list, context, z.strictObject(callerFields).superRefine(oneCaller), async (_input, json, open) => {
    const { runs } = await (await open()).get(runsAnswer, '/runs')
    print(terminal, json, { runs }, () => runTable(runs))
  })
}
