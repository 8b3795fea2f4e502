import type { Command } from 'commander'
import { z } from 'zod'
import { FUNCTION_IDS, MAX_DAYS_AHEAD, MAX_WAIT_MINUTES } from '../../sandbox/test-plan/index.ts'
import type { CliContext } from './context.ts'
import { defineCustomCommand } from './operation.ts'
import { print } from './report.ts'
import { callerFields, callerOptions, credentialsOf, oneCaller, typedCaller } from './sandbox-caller.ts'
import { SandboxClient } from './sandbox-client.ts'
import { contactsCommand } from './sandbox-contacts.ts'
import { type DemoPartner, runSandbox, sandboxRun } from './sandbox-run.ts'
import { runAnswer, runsAnswer, type ShownRun, type ShownSummary } from './sandbox-wire.ts'
import { aligned, collect, collectWords, numberIfOne, readable } from './text.ts'

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

const RESPONSE_TIMEOUT_MS = 30_000
const FLAGS = { run_id: 'run_id', functions: '--function', products: '--product' }

/** `gatehouse sandbox …`: a partner's test run, over the headless API of a running service. */
export function sandboxCommands(program: Command, context: CliContext, demo: DemoPartner): void {
  const sandbox = program.command('sandbox').description("a partner's test run, as the partner")
  const run = callerOptions(sandbox.command('run').description('run every step; exits with 0 once the run has passed'))
    .option(
      '--function <name>',
      `a function that the partner offers (repeat, or separate by commas): ${FUNCTION_IDS.join(', ')}`,
      collectWords,
    )
    .option('--all', 'every function; with --function robustness the extra tests too')
    .option(
      '--product <[role=]id>',
      'partnerDealId of the main product, or later=, review=, level=, sold_out= (repeat, or separate by commas)',
      collect,
    )
    .option('--travel-date <date>', 'yyyy-MM-dd (default: tomorrow in Beijing)')
    .option('--unit-price <yuan>', 'sale price per ticket; required without product pull and price calendar')
    .option('--buy-price <yuan>', 'settlement price per ticket; required likewise')
    .option('--quantity <number>', 'tickets per order (default: 2)', numberIfOne)
    .option('--days-ahead <number>', `move the run by this many days (0 to ${MAX_DAYS_AHEAD})`, numberIfOne)
    .option('--wait-minutes <number>', `wait this long for a notice (1 to ${MAX_WAIT_MINUTES})`, numberIfOne)
    .option('--send-twice', 'send each call twice')
    .option('--slow', 'send the body of each request in two parts')
    .option('--out-of-order', 'after each call about an order send the one before it again')
    .option('--overwrite', 'replace a run that is in progress')
    .option('--on-wait <command>', 'shell command that triggers the notice that a step waits for')
    .option('--demo', 'let the demo partner do its part')
    .option('--timeout <seconds>', 'give up after this many seconds (default: 1800)', numberIfOne)
    .option('--junit <file>', 'write the outcome as JUnit XML')
  defineCustomCommand(run, { input: sandboxRun, inputFrom: typedRun, flags: FLAGS }, (input, json) =>
    runSandbox(context, demo, input, json),
  )

  contactsCommand(sandbox, context)

  const one = z.strictObject({ ...callerFields, run_id: z.string().default('present') }).superRefine(oneCaller)
  const show = sandbox.command('show').description('the current run, or one by its id, step by step')
  defineCustomCommand(
    callerOptions(show).argument('[run_id]'),
    { input: one, inputFrom: (options, run_id) => ({ ...typedCaller(options), run_id }), flags: FLAGS },
    async (input, json) => {
      const client = new SandboxClient(await credentialsOf(context, input), AbortSignal.timeout(RESPONSE_TIMEOUT_MS))
      const { run: shown } = await client.get(runAnswer, `/runs/${encodeURIComponent(input.run_id)}`)
      print(context.terminal, json, shown, runText)
    },
  )

  const all = z.strictObject(callerFields).superRefine(oneCaller)
  const list = sandbox.command('list').description('the runs of a partner, newest first')
  defineCustomCommand(callerOptions(list), { input: all, inputFrom: typedCaller }, async (input, json) => {
    const client = new SandboxClient(await credentialsOf(context, input), AbortSignal.timeout(RESPONSE_TIMEOUT_MS))
    const { runs } = await client.get(runsAnswer, '/runs')
    print(context.terminal, json, { runs }, () => runTable(runs))
  })
}

const typedRun = (options: Readonly<Record<string, unknown>>) => ({
  ...typedCaller(options),
  functions: options.function,
  all: options.all,
  products: options.product,
  travel_date: options.travelDate,
  unit_price: options.unitPrice,
  buy_price: options.buyPrice,
  quantity: options.quantity,
  days_ahead: options.daysAhead,
  wait_minutes: options.waitMinutes,
  sends_twice: options.sendTwice,
  is_slow: options.slow,
  out_of_order: options.outOfOrder,
  overwrite: options.overwrite,
  on_wait: options.onWait,
  demo: options.demo,
  timeout: options.timeout,
  junit: options.junit,
})
