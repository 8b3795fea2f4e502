import { mkdir, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { stringify } from 'lossless-json'
import { z } from 'zod'
import { FUNCTION_IDS } from '../certification/index.ts'
import type { CliContext, Terminal } from './context.ts'
import { callerFields, credentialsOf, type FoundCredentials, oneCaller } from './sandbox-caller.ts'
import { SandboxClient } from './sandbox-client.ts'
import { driveRun, type Help } from './sandbox-drive.ts'
import { commandHelp, noHelp } from './sandbox-help.ts'
import { type Awaited, contactsAnswer, reportAnswer, runAnswer } from './sandbox-wire.ts'

/** The demo partner: who triggers its notices, and which product it sells for which role in a run. */
export interface DemoPartner {
  readonly products: Readonly<Record<string, string>>
  /** Given its base URL; throws when it does not answer. */
  readonly open: (baseUrl: string | null) => Promise<(awaited: Awaited) => Promise<void>>
}

const ROLES = /^(main|later|review|level|sold[_-]out)=(.*)$/s

/** `later=DEMO-TOWER` is a product for a role, anything else the main one. */
function productsOf(typed: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    typed.map((text) => {
      const [, role = 'main', id = text] = ROLES.exec(text) ?? []
      return [role.replace('-', '_'), id]
    }),
  )
}

export const sandboxRun = z
  .strictObject({
    ...callerFields,
    functions: z.array(z.enum(FUNCTION_IDS)).optional(),
    all: z.boolean().default(false),
    products: z.array(z.string().min(1)).optional(),
    travel_date: z.string().optional(),
    unit_price: z.string().optional(),
    buy_price: z.string().optional(),
    quantity: z.number().optional(),
    overwrite: z.boolean().default(false),
    on_wait: z.string().min(1).optional(),
    demo: z.boolean().default(false),
    timeout: z.number().min(1).max(86_400).default(1_800),
    junit: z.string().min(1).optional(),
  })
  .superRefine((input, context) => {
    oneCaller(input, context)
    const problem = (path: string, message: string) => context.addIssue({ code: 'custom', path: [path], message })
    if (!input.all && input.functions === undefined) problem('functions', 'or --all is required')
    if (!input.demo && input.products === undefined) problem('products', 'is required')
    if (input.demo && input.partner === undefined) problem('demo', 'needs --partner')
    if (input.demo && input.on_wait !== undefined) problem('demo', 'or --on-wait, not both')
  })
type Input = z.output<typeof sandboxRun>

const REPORT_MS = 30_000

/** Drives a run to its end and reports it; the exit code is 0 when it has passed and 1 otherwise. */
export async function runSandbox(context: CliContext, demo: DemoPartner, input: Input, json: boolean): Promise<void> {
  const { terminal } = context
  const progress = json ? terminal.stderr : terminal.stdout
  const say = (line: string) => void progress.write(`${printable(line)}\n`)
  const caller = await credentialsOf(context, input)
  const help = await helpOf(terminal, input, demo, caller)
  const client = new SandboxClient(caller, AbortSignal.timeout(input.timeout * 1_000))
  const { missing_contacts } = await client.get(contactsAnswer, '/contacts')
  if (missing_contacts.length > 0) {
    say(`acceptance will need a ${missing_contacts.join(' and a ')} contact: gatehouse sandbox contacts --help`)
  }
  const { run } = await client.post(runAnswer, '/runs', runRequestOf(input, demo))
  say(`run ${run.number} of ${caller.clientId} (${run.run_id}): ${run.steps.length} steps`)
  const passed = await driveRun({ client, say, help }, run).catch((error: Error) => {
    say(error.name === 'TimeoutError' || error.name === 'AbortError' ? timedOut(input) : error.message)
    return false
  })
  say(passed ? 'PASSED' : 'NOT PASSED')
  if (!passed) terminal.exitCode = 1
  await report(
    new SandboxClient(caller, AbortSignal.timeout(REPORT_MS)),
    run.run_id,
    input,
    json ? terminal.stdout : undefined,
  )
}

const timedOut = ({ timeout }: Input): string => `not finished after ${timeout} s (--timeout)`

// Texts of a partner may contain control characters, which a terminal would interpret.
const printable = (line: string): string => line.replace(/\p{Cc}/gu, '\ufffd')

async function helpOf(
  terminal: Terminal,
  { demo: wanted, on_wait }: Input,
  demo: DemoPartner,
  { baseUrl }: FoundCredentials,
): Promise<Help> {
  if (wanted) return demo.open(baseUrl)
  return on_wait === undefined ? noHelp : commandHelp(terminal, on_wait)
}

function runRequestOf(input: Input, demo: DemoPartner): object {
  const { all, functions, products, overwrite, travel_date, unit_price, buy_price, quantity } = input
  const defaults = input.demo ? demo.products : {}
  return {
    overwrite,
    body: {
      functions: all ? FUNCTION_IDS : functions,
      products: products ? productsOf(products) : defaults,
      travel_date,
      unit_price,
      buy_price,
      quantity,
    },
  }
}

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
  stdout.write(`${stringify(answer.report, null, 2)}\n`)
}
