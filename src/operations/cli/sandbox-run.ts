import { mkdir, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { stringify } from 'lossless-json'
import { z } from 'zod'
import { InvalidInput, parseInput } from '../../platform/lib/json/input.ts'
import {
  choice,
  FUNCTION_IDS,
  MAX_DAYS_AHEAD,
  MAX_WAIT_MINUTES,
  OFFERED_FUNCTIONS,
  PRODUCT_ROLES,
} from '../../sandbox/test-plan/index.ts'
import type { CliContext } from './context.ts'
import { callerFields, credentialsOf, type FoundCredentials, oneCaller } from './sandbox-caller.ts'
import { answerLimit, SandboxClient, timeLimit } from './sandbox-client.ts'
import { type Awaited, contactsAnswer, driveRun, type Help, reportAnswer, runAnswer } from './sandbox-drive.ts'
import { commandHelp, noHelp } from './sandbox-help.ts'
import type { Terminal } from './terminal.ts'
import { printable, printableJson } from './text.ts'

const ROLES: readonly string[] = PRODUCT_ROLES

/** Reads the products of a run: `DEMO-OPEN`, `later=DEMO-CASTLE`, or several separated by commas. */
export function readProducts(typed: readonly string[]) {
  const products = new Map<string, string>()
  const problems: string[] = []
  for (const part of typed.flatMap((text) => text.split(',')).map((text) => text.trim())) {
    const [, named, given] = /^([^=]*)=(.*)$/s.exec(part) ?? []
    const role = named === undefined ? 'main' : named.trim().replace('-', '_')
    const id = (given ?? part).trim()
    if (!ROLES.includes(role)) {
      problems.push(`"${part}" must begin with ${ROLES.join('=, ')}=; an id with "=" is written main=${part}`)
    } else if (id === '') {
      problems.push(`"${part}" names no product`)
    } else if (products.has(role)) {
      problems.push(`"${part}" would be a second ${role} product; commas separate products, so no id has one here`)
    } else {
      products.set(role, id)
    }
  }
  return { products: Object.fromEntries(products), problems }
}

/** The demo partner: how to trigger its notices, and which product it sells for which role in a run. */
export interface DemoPartner {
  readonly products: Readonly<Record<string, string>>
  /** Takes its base URL; throws if it does not answer. */
  readonly open: (baseUrl: string | null) => Promise<(awaited: Awaited) => Promise<void>>
}

const wholeNumber = () => z.number('must be a whole number').optional()

export const sandboxRun = z
  .strictObject({
    ...callerFields,
    functions: z
      .array(z.enum(FUNCTION_IDS))
      .optional()
      .meta({
        flag: 'function',
        description: `a function that the partner offers (repeat, or separate by commas): ${FUNCTION_IDS.join(', ')}`,
      }),
    all: z.boolean().default(false).describe('every function; with --function robustness the extra tests too'),
    products: z.array(z.string()).optional().meta({
      flag: 'product',
      description:
        'partnerDealId of the main product, or later=, review=, level=, sold_out= (repeat, or separate by commas)',
    }),
    travel_date: z.string().optional().describe('yyyy-MM-dd (default: tomorrow in Beijing)'),
    unit_price: z
      .string()
      .optional()
      .describe('sale price per ticket; required without product pull and price calendar'),
    buy_price: z.string().optional().describe('settlement price per ticket; required likewise'),
    quantity: wholeNumber().describe('tickets per order (default: 2)'),
    days_ahead: wholeNumber().describe(`move the run by this many days (0 to ${MAX_DAYS_AHEAD})`),
    wait_minutes: wholeNumber().describe(`wait this long for a notice (1 to ${MAX_WAIT_MINUTES})`),
    sends_twice: z.boolean().optional().meta({ flag: 'send-twice', description: 'send each call twice' }),
    is_slow: z.boolean().optional().meta({ flag: 'slow', description: 'send the body of each request in two parts' }),
    out_of_order: z.boolean().optional().describe('after each call about an order send the one before it again'),
    overwrite: z.boolean().default(false).describe('replace a run that is in progress'),
    on_wait: z.string().min(1).optional().describe('shell command that triggers the notice that a step waits for'),
    demo: z.boolean().default(false).describe('let the demo partner do its part'),
    timeout: z
      .number('must be a whole number of seconds')
      .min(1)
      .max(86_400)
      .default(1_800)
      .describe('give up after this many seconds (default: 1800)'),
    junit: z.string().min(1).optional().describe('write the outcome as JUnit XML to this file'),
  })
  .superRefine((input, context) => {
    oneCaller(input, context)
    const problem = (path: string, message: string) => context.addIssue({ code: 'custom', path: [path], message })
    if (!input.all && input.functions === undefined) problem('functions', 'or --all is required')
    if (input.all && input.functions?.some((id) => OFFERED_FUNCTIONS.includes(id))) {
      problem('functions', 'or --all, not both (only robustness may be combined with --all)')
    }
    if (input.functions?.length === 0) problem('functions', 'names no function')
    const typed = readProducts(input.products ?? [])
    for (const message of typed.problems) problem('products', message)
    if (!input.demo && input.products === undefined) problem('products', 'is required')
    if (input.demo && input.partner === undefined) problem('demo', 'needs --partner')
    if (input.demo && input.on_wait !== undefined) problem('demo', 'or --on-wait, not both')
    if (context.issues.length === 0) checkChoice(input, context)
  })
type Input = z.output<typeof sandboxRun>

/** The demo partner has a product for every role. */
const ANY_PRODUCTS = { main: 'any', sold_out: 'any' }

/** Before anything is sent, reports what the platform would refuse, under the names of the options. */
function checkChoice(input: Omit<Input, 'partner'>, context: z.core.$RefinementCtx): void {
  try {
    parseInput(choice, choiceOf(input, ANY_PRODUCTS))
  } catch (error) {
    if (!(error instanceof InvalidInput)) throw error
    for (const { field, problem } of error.problems) {
      context.addIssue({
        code: 'custom',
        path: field.replace(/^conditions\./, '').split('.'),
        message: String(problem),
      })
    }
  }
}

/** Drives a run to its end and reports it; the exit code is 0 if it has passed, otherwise 1. */
export async function runSandbox(context: CliContext, demo: DemoPartner, input: Input, json: boolean): Promise<void> {
  const { terminal } = context
  const progress = json ? terminal.stderr : terminal.stdout
  const say = (line: string) => void progress.write(`${printable(line)}\n`)
  const caller = await credentialsOf(context, input)
  const help = await helpOf(terminal, input, demo, caller)
  const client = new SandboxClient(
    caller,
    timeLimit(input.timeout, `not finished after ${input.timeout} s (--timeout)`),
  )
  const { missing_contacts } = await client.get(contactsAnswer, '/contacts')
  if (missing_contacts.length > 0) {
    say(`acceptance will need a ${missing_contacts.join(' and a ')} contact: gatehouse sandbox contacts --help`)
  }
  const { run } = await client.post(runAnswer, '/runs', {
    overwrite: input.overwrite,
    body: choiceOf(input, demo.products),
  })
  say(`run ${run.number} of ${caller.clientId} (${run.run_id}): ${run.steps.length} steps`)
  const passed = await driveRun({ client, say, help }, run).catch((error: Error) => {
    say(error.message)
    return false
  })
  say(passed ? 'PASSED' : 'NOT PASSED')
  if (!passed) terminal.exitCode = 1
  await report(new SandboxClient(caller, answerLimit()), run.run_id, input, json ? terminal.stdout : undefined)
}

async function helpOf(
  terminal: Terminal,
  { demo: useDemo, on_wait }: Input,
  demo: DemoPartner,
  { baseUrl }: FoundCredentials,
): Promise<Help> {
  if (useDemo) return demo.open(baseUrl)
  return on_wait === undefined ? noHelp : commandHelp(terminal, on_wait)
}

const choiceOf = (
  { all, functions = [], products, ...input }: Omit<Input, 'partner'>,
  defaults: DemoPartner['products'],
) => ({
  functions: all ? [...OFFERED_FUNCTIONS, ...functions] : functions,
  products: products ? readProducts(products).products : defaults,
  travel_date: input.travel_date,
  unit_price: input.unit_price,
  buy_price: input.buy_price,
  quantity: input.quantity,
  conditions: {
    days_ahead: input.days_ahead,
    wait_minutes: input.wait_minutes,
    sends_twice: input.sends_twice,
    is_slow: input.is_slow,
    out_of_order: input.out_of_order,
  },
})

async function report(
  client: SandboxClient,
  runId: string,
  { junit }: Input,
  stdout: Terminal['stdout'] | undefined,
): Promise<void> {
  if (junit !== undefined) {
    await mkdir(dirname(junit), { recursive: true })
    await writeFile(junit, await client.xml(`/runs/${runId}/report.xml`))
  }
  if (!stdout) return
  const answer = await client.get(reportAnswer, `/runs/${runId}/report`)
  stdout.write(`${printableJson(stringify(answer.report, null, 2) ?? '')}\n`)
}
