import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { environment } from '../config.ts'
import type { Help } from './sandbox-drive.ts'
import type { Awaited } from './sandbox-wire.ts'

/** `orderId` → `ORDER_ID`. */
const variable = (field: string): string => field.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()

/** What notices are about. Any other name that a server might send could be one that the shell obeys, such as PATH. */
const PASSED_ON = ['orderId', 'refundId', 'partnerDealId', 'quantity', 'usedQuantity', 'status', 'code']

const variablesOf = ({ path, about }: Awaited, stepId: string): Record<string, string> => ({
  ...Object.fromEntries(
    Object.entries(about).flatMap(([field, value]) => (PASSED_ON.includes(field) ? [[variable(field), value]] : [])),
  ),
  SANDBOX_STEP: stepId,
  SANDBOX_PATH: path,
})

/**
 * Runs a shell command while a step waits for a notice. What the notice has to be about comes in environment variables
 * (SANDBOX_STEP, SANDBOX_PATH, ORDER_ID, …), never in the command's text, and our own
 * secret is kept from it; what it prints goes to standard error.
 */
export const commandHelp =
  (command: string): Help =>
  async (awaited, stepId, signal) => {
    const { CLIENT_SECRET: _, ...passedOn } = environment()
    const child = spawn('sh', ['-c', command], {
      env: { ...passedOn, ...variablesOf(awaited, stepId) },
      stdio: ['ignore', process.stderr, process.stderr],
      signal,
    })
    const [code] = await once(child, 'close')
    if (code !== 0) throw new Error(`the --on-wait command ended with ${code}`)
  }

export const noHelp: Help = async () => {}
