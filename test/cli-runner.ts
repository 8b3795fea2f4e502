import { Readable, Writable } from 'node:stream'
import { runCommand } from '../src/command-line.ts'
import type { Terminal } from '../src/operations/cli/context.ts'
import type { Outcome } from './cli-process.ts'

/** Runs a command in this process with nothing but these settings. */
export const gatehouse = (settings: Record<string, string>, ...args: string[]): Promise<Outcome> =>
  gatehouseWith(undefined, settings, ...args)

/** The same with something on its standard input. */
export async function gatehouseWith(
  input: string | Buffer | undefined,
  env: Record<string, string>,
  ...args: string[]
): Promise<Outcome> {
  const texts = { stdout: '', stderr: '' }
  const stream = (name: keyof typeof texts) =>
    new Writable({
      write(chunk, _encoding, done) {
        texts[name] += chunk
        done()
      },
    })
  const terminal: Terminal = {
    stdin: Readable.from(input === undefined ? [] : [Buffer.from(input)]),
    stdout: stream('stdout'),
    stderr: stream('stderr'),
    env,
  }
  await runCommand(terminal, args)
  return { code: Number(terminal.exitCode ?? 0), ...texts }
}
