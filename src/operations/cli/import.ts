import { availableParallelism } from 'node:os'
import type { Command } from 'commander'
import pLimit from 'p-limit'
import { z } from 'zod'
import { fileUser, type importUsers } from '../../authorization/account/index.ts'
import { hashPassword } from '../../platform/lib/crypto/password.ts'
import { type InputOf, InvalidInput, type OutputOf, parseInput } from '../../platform/lib/json/input.ts'
import { LIST_LIMITS } from '../../platform/lib/json/shape.ts'
import { normalName } from '../../platform/lib/precis.ts'
import { NotUtf8 } from '../../platform/lib/utf8.ts'
import type { CliContext } from './context.ts'
import type { FileRecord } from './import-file.ts'
import { defineCustomCommand } from './operation.ts'
import { print, progressBar } from './report.ts'
import { ask } from './request.ts'
import { findService } from './service.ts'

type FileUser = z.output<typeof fileUser>

/** Users of one file; their keys and passports are kept in memory, to find duplicates. */
const MAX_USERS = 1_000_000
/** Problems in the output with --json; standard error has all of them. */
const MAX_TOLD = 1_000

interface Imported {
  created: number
  /** Would be, with --dry-run. */
  new: number
  /** There already, with the same data. */
  identical: number
  /** Lines with problems. */
  refused: number
  readonly problems: { readonly line: number; readonly problem: string }[]
}

interface Row {
  readonly line: number
  readonly user: FileUser
}

type Send = (some: InputOf<typeof importUsers>) => Promise<OutputOf<typeof importUsers>>

/** `gatehouse user import FILE`: CSV or NDJSON. Users that exist with the same data are skipped, so it can be run again. */
export function importCommand(command: Command, context: CliContext): void {
  command.argument('[file]').usage('<file> [options]').option('--dry-run', 'say what would be done, and every problem')
  const input = z.strictObject({ file: z.string(), dry_run: z.boolean().default(false) })
  const inputFrom = ({ dryRun }: Readonly<Record<string, unknown>>, file: string | undefined) => ({
    file,
    dry_run: dryRun,
  })
  defineCustomCommand(command, { input, inputFrom, flags: { file: 'file' } }, async ({ file, dry_run }, json) => {
    const { terminal } = context
    const service = await findService(context, command.opts().url)
    const send: Send = (some) => ask(service, { route: 'POST /users/import', fields: { ...some } })
    const done = await importFile(context, { file, dry_run, send }).catch((error: unknown) => {
      throw error instanceof NotUtf8
        ? new InvalidInput([{ field: 'file', problem: `is ${error.message}; save it as UTF-8` }])
        : error
    })
    print(terminal, json, done, text)
    if (done.refused > 0) terminal.exitCode = 1
  })
}

const text = ({ created, new: wanted, identical, refused }: Imported): string =>
  [
    wanted > 0 ? `would be created: ${wanted}` : `created: ${created}`,
    `already present: ${identical}`,
    `lines with problems: ${refused}`,
  ].join('\n')

async function importFile(
  { terminal }: CliContext,
  { file, dry_run, send }: { file: string; dry_run: boolean; send: Send },
): Promise<Imported> {
  const done: Imported = { created: 0, new: 0, identical: 0, refused: 0, problems: [] }
  const bar = progressBar(terminal.stderr)
  const refuse = (line: number, problems: readonly string[]): void => {
    done.refused++
    for (const problem of problems) {
      if (done.problems.length < MAX_TOLD) done.problems.push({ line, problem })
      terminal.stderr.write(`line ${line}: ${problem}\n`)
    }
  }
  const hashing = pLimit(availableParallelism())
  const hashed = async ({ password = '', password_hash, ...rest }: FileUser) => ({
    ...rest,
    password_hash: password_hash ?? (await hashing(() => hashPassword(password))),
  })
  const flush = async (rows: readonly Row[]): Promise<void> => {
    if (rows.length === 0) return
    const profiles = rows.map(({ user: { password: _, password_hash: __, ...profile } }) => profile)
    const asked = await send({ dry_run: true, users: profiles })
    const wanted = rows.filter((_, at) => asked.outcomes[at] === 'new')
    const users = dry_run ? [] : await Promise.all(wanted.map(({ user }) => hashed(user)))
    const answer =
      users.length > 0 ? (await send({ dry_run: false, users })).outcomes : wanted.map(() => 'new' as const)
    let next = 0
    for (const [at, { line }] of rows.entries()) {
      const outcome = asked.outcomes[at] === 'new' ? answer[next++] : asked.outcomes[at]
      if (typeof outcome === 'string') done[outcome]++
      else refuse(line, (outcome ?? []).map(takenText))
    }
  }
  const { openUsersFile } = await import('./import-file.ts') // loads csv-parse, which only this command needs
  const opened = await openUsersFile(file, terminal)
  const readRow = rowReader(refuse)
  let waiting: Row[] = []
  for await (const record of opened.records) {
    const row = readRow(record)
    if (row) waiting.push(row)
    if (waiting.length < LIST_LIMITS.users.most) continue
    await flush(waiting)
    waiting = []
    const { read, total } = opened.progress()
    bar.show(read, total)
  }
  await flush(waiting)
  bar.end()
  return done
}

const takenText = (field: 'passport' | 'user_id'): string =>
  field === 'user_id'
    ? 'user_id is already taken in this cid, by a user with other data'
    : 'passport is already taken by another user'

/** Reads records as users; refuses those with problems, and those that repeat an earlier line. */
function rowReader(refuse: (line: number, problems: readonly string[]) => void) {
  const lines = { passport: new Map<string, number>(), user_id: new Map<string, number>() }
  return ({ line, value, problem }: FileRecord): Row | undefined => {
    if (problem !== undefined) return void refuse(line, [problem])
    if (lines.passport.size >= MAX_USERS) throw new Error(`the file has more than ${MAX_USERS} users; split it`)
    const user = userOf(value)
    if (Array.isArray(user)) return void refuse(line, user)
    const key = `${user.cid} ${user.user_id}`
    const passport = normalName(user.passport)
    const earlier = [
      ...[lines.passport.get(passport)].flatMap((at) => (at ? [`passport is that of line ${at}`] : [])),
      ...[lines.user_id.get(key)].flatMap((at) => (at ? [`user_id is that of line ${at}, in the same cid`] : [])),
    ]
    if (earlier.length > 0) return void refuse(line, earlier)
    lines.passport.set(passport, line)
    lines.user_id.set(key, line)
    return { line, user }
  }
}

function userOf(value: unknown): FileUser | string[] {
  try {
    return parseInput(fileUser, value)
  } catch (error) {
    if (!(error instanceof InvalidInput)) throw error
    return error.problems.map(({ field, problem }) => `${field} ${problem}`)
  }
}
