import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Awaited, Help } from './sandbox-drive.ts'
import type { Terminal } from './terminal.ts'

/** `orderId` → `ORDER_ID`. */
const variable = (field: string): string => field.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()

/** Only known fields of notices: a server could send a name that the shell interprets, such as PATH. */
const PASSED_ON = [
  'orderId',
  'partnerOrderId',
  'refundId',
  'partnerDealId',
  'quantity',
  'usedQuantity',
  'status',
  'code',
]

const variablesOf = ({ path, about, notice }: Awaited, stepId: string): Record<string, string> => ({
  ...Object.fromEntries(
    Object.entries(about).flatMap(([field, value]) => (PASSED_ON.includes(field) ? [[variable(field), value]] : [])),
  ),
  SANDBOX_STEP: stepId,
  SANDBOX_PATH: path,
  ...(notice === undefined ? {} : { SANDBOX_NOTICE: notice }),
})

/** How much of the end of a failed command's output is reported. */
const REPORTED_OUTPUT = 2_000
const LAST_OUTPUT_MS = 500

/**
 * Runs a shell command while a step waits for a notice. The ids that the notice must have are passed in environment
 * variables (SANDBOX_STEP, SANDBOX_PATH, ORDER_ID, …), never in the command's text; CLIENT_SECRET is not passed on.
 * Its output goes to standard error. Rejects with the end of the output if the command fails.
 */
export const commandHelp =
  ({ env, stderr }: Terminal, command: string): Help =>
  async (awaited, stepId, signal) => {
    const { CLIENT_SECRET: _, ...passedOn } = env
    const child = spawn('sh', ['-c', command], {
      env: { ...passedOn, ...variablesOf(awaited, stepId) },
      stdio: ['ignore', 'pipe', 'pipe'],
      signal,
    })
    let printed = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        stderr.write(text)
        printed = (printed + text).slice(-REPORTED_OUTPUT)
      })
    }
    const closed = once(child, 'close', { signal }).catch(() => {})
    // Background processes that the command leaves behind would keep its output open.
    void closed.then(() => [child.stdout, child.stderr].map((stream) => stream.destroy()))
    const [code, killedBy] = await once(child, 'exit')
    if (code === 0) return
    await Promise.race([closed, sleep(LAST_OUTPUT_MS, undefined, { ref: false })])
    const lines = printed.trim() === '' ? ['it printed nothing'] : printed.trim().split('\n')
    throw new Error(
      `the --on-wait command ended with ${killedBy ?? code}:\n${lines.map((line) => `  ${line}`).join('\n')}`,
    )
  }

export const noHelp: Help = async () => {}
