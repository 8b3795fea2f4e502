import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import type { Command } from 'commander'
import { z } from 'zod'
import { USERS_FILE } from '../../authorization/account/index.ts'
import { hashPassword } from '../../platform/lib/crypto/password.ts'
import { InvalidInput, type OutputOf } from '../../platform/lib/json/input.ts'
import { localized } from '../../platform/lib/localized-text.ts'
import { checkedUtf8, NotUtf8 } from '../../platform/lib/utf8.ts'
import type { CliContext } from './context.ts'
import { defineCommand } from './operation.ts'
import { print, progressBar } from './report.ts'
import { ask } from './request.ts'
import { findService } from './service.ts'
import type { Terminal } from './terminal.ts'

const MAX_USERS = 1_000_000

/** `gatehouse user import FILE`: CSV or NDJSON. Skips users that exist with the same data, so it can be run again. */
export function importCommand(command: Command, context: CliContext): void {
  command.argument('[file]').usage('<file> [options]').option('--dry-run', 'say what would be done, and every problem')
  const input = z.strictObject({ file: z.string(), dry_run: z.boolean().default(false) })
  const inputFrom = ({ dryRun }: Readonly<Record<string, unknown>>, file: string | undefined) => ({
    file,
    dry_run: dryRun,
  })
  defineCommand(command, { input, inputFrom, flags: { file: 'file' } }, async ({ file, dry_run }, json) => {
    const { terminal } = context
    const service = await findService(context, command.opts().url)
    const bar = progressBar(terminal.stderr)
    const importOpened = async () => {
      const { records, progress } = await openUsersFile(file, terminal)
      return USERS_FILE.import({
        ...{ records, dryRun: dry_run, most: MAX_USERS },
        send: (batch) => ask(service, { route: 'POST /users/import', fields: { ...batch } }),
        hash: hashPassword,
        onProblem: (line, problem) => void terminal.stderr.write(`line ${line}: ${problem}\n`),
        onProgress: () => bar.show(progress().read, progress().total),
      })
    }
    const done = await importOpened().catch((error: unknown) => {
      throw error instanceof NotUtf8
        ? new InvalidInput([{ field: 'file', problem: localized('not-as-utf8', { problem: error.problem }) }])
        : error
    })
    bar.end()
    print(terminal, json, done, text)
    if (done.refused > 0) terminal.exitCode = 1
  })
}

const text = ({ created, new: planned, identical, refused }: OutputOf<typeof USERS_FILE.import>): string =>
  [
    planned > 0 ? `would be created: ${planned}` : `created: ${created}`,
    `already present: ${identical}`,
    `lines with problems: ${refused}`,
  ].join('\n')

/**
 * Opens a file of users, or standard input for `-`. Throws NotUtf8: for a file before its first record is read, for
 * standard input when the invalid bytes arrive.
 */
async function openUsersFile(name: string, { stdin }: Pick<Terminal, 'stdin'>) {
  const total = name === '-' ? undefined : (await stat(name)).size
  if (name !== '-') for await (const _ of checkedUtf8(createReadStream(name)));
  let read = 0
  async function* counted(source: AsyncIterable<string | Buffer>): AsyncGenerator<Buffer> {
    for await (const part of source) {
      read += part.length
      yield Buffer.from(part)
    }
  }
  const records = USERS_FILE.records(counted(name === '-' ? stdin : createReadStream(name)))
  return { records, progress: () => ({ read, total }) }
}
