import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

const PROGRAM = fileURLToPath(new URL('../.build/cli.js', import.meta.url))

export interface Outcome {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs the built command line, as an operator would, with nothing but these settings. */
export const gatehouse = (settings: Record<string, string>, ...args: string[]): Promise<Outcome> =>
  gatehouseWith(undefined, settings, ...args)

/** The same with something on its standard input. */
export async function gatehouseWith(
  input: string | undefined,
  settings: Record<string, string>,
  ...args: string[]
): Promise<Outcome> {
  const env = { PATH: process.env.PATH, ...settings }
  const child = spawn(PROGRAM, args, { env, stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'] })
  child.stdin?.end(input)
  const texts = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (chunk: string) => {
      texts[name] += chunk
    })
  }
  const [code] = await once(child, 'close')
  return { code, ...texts }
}
