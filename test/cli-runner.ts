import type { AddressInfo } from 'node:net'
import { Readable, Writable } from 'node:stream'
import { runCommand } from '../src/command-line.ts'
import type { Terminal } from '../src/operations/cli/terminal.ts'
import type { Outcome } from './cli-process.ts'
import { shardsOf } from './one-table.ts'
import { OPEN_WORLDS } from './open-worlds.ts'

/**
 * Runs a command in this process with only these settings. If they name the database of an open World, the command talks
 * to its app and uses its clock.
 */
export const gatehouse = (settings: Record<string, string>, ...args: string[]): Promise<Outcome> =>
  gatehouseWith(undefined, settings, ...args)

/** The same with text on standard input. */
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
    env: { ...(await portOf(env)), ...shardsOf(env), ...env },
  }
  await runCommand(terminal, args, OPEN_WORLDS.get(env.DATABASE_URL ?? '')?.clock)
  return { code: Number(terminal.exitCode ?? 0), ...texts }
}

async function portOf({ DATABASE_URL = '' }: Record<string, string>): Promise<{ PORT?: string }> {
  const app = OPEN_WORLDS.get(DATABASE_URL)?.app
  if (!app) return {}
  if (!app.server.listening) await app.listen({ host: '127.0.0.1', port: 0 })
  return { PORT: String((app.server.address() as AddressInfo).port) }
}
