import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { shardsOf } from './one-table.ts'
import { SHORT_LIVED } from './start-options.ts'

export const PROGRAM = fileURLToPath(new URL('../.build/cli.js', import.meta.url))

export interface Outcome {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs the built program in a process of its own, as an operator would. */
export async function gatehouseProcess(settings: Record<string, string>, ...args: string[]): Promise<Outcome> {
  const env = { PATH: process.env.PATH, ...shardsOf(settings), ...settings }
  const child = spawn(process.execPath, [...SHORT_LIVED, PROGRAM, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  const texts = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (chunk: string) => {
      texts[name] += chunk
    })
  }
  const [code] = await once(child, 'close')
  return { code, ...texts }
}
