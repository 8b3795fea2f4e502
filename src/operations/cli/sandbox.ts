import type { Command } from 'commander'
import { z } from 'zod'
import { setContact } from '../../ticketing/partners/index.ts'
import type { CliContext } from './context.ts'
import { print } from './report.ts'
import { callerCommand, callerFields, oneCaller } from './sandbox-caller.ts'
import {
  contactsAnswer,
  runAnswer,
  runsAnswer,
  type ShownContacts,
  type ShownRun,
  type ShownSummary,
} from './sandbox-drive.ts'
import { type DemoPartner, runSandbox, sandboxRun } from './sandbox-run.ts'
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

const { name, mail } = setContact.input.shape
const input = z
  .strictObject({
    ...callerFields,
    product_name: name.optional().describe('name of the product contact'),
    product_mail: mail.optional().describe('its email address'),
    business_name: name.optional().describe('name of the business contact'),
    business_mail: mail.optional().describe('its email address'),
  })
  .superRefine((given, context) => {
    oneCaller(given, context)
    for (const role of ['product', 'business'] as const) {
      const [named, mailed] = [`${role}_name`, `${role}_mail`] as const
      const missing = given[named] === undefined ? named : mailed
      if ((given[named] === undefined) !== (given[mailed] === undefined)) {
        context.addIssue({ code: 'custom', path: [missing], message: 'is required too' })
      }
    }
  })

/** `gatehouse sandbox contacts`: shows the partner's contacts, which acceptance needs, after setting those given. */
function contactsCommand(sandbox: Command, context: CliContext): void {
  const command = sandbox
    .command('contacts')
    .description('contacts notified when a run passes; acceptance needs both. Sets those given')
  callerCommand(command, context, input, async (given, json, open) => {
    const client = await open()
    const person = (who?: string, where?: string) => (who && where ? { name: who, mail: where } : undefined)
    const product = person(given.product_name, given.product_mail)
    const business = person(given.business_name, given.business_mail)
    const { contacts, missing_contacts } =
      product || business
        ? await client.post(contactsAnswer, '/contacts', { body: { product, business } })
        : await client.get(contactsAnswer, '/contacts')
    print(context.terminal, json, { contacts, missing_contacts }, contactsText)
  })
}

function contactsText({ contacts, missing_contacts }: ShownContacts): string {
  const rows = Object.entries(contacts).map(([role, who]) => [role, who.name, who.mail])
  return aligned([...rows, ...missing_contacts.map((role) => [role, 'missing; acceptance needs it'])])
}
