import type { z } from 'zod'
import { type InputOf, InvalidInput, type OutputOf, parseInput } from '../../platform/lib/json/input.ts'
import { LIST_LIMITS } from '../../platform/lib/json/shape.ts'
import { type Detail, type LocalizedText, localized } from '../../platform/lib/localized-text.ts'
import { normalName } from '../../platform/lib/precis.ts'
import { fileUser, type importUsers } from './import.ts'
import { type FileRecord, recordsOf } from './users-file.ts'

type FileUser = z.output<typeof fileUser>

/** Problems that are told one by one. */
const MAX_TOLD = 1_000

/** What was done with a file, or would be. */
interface Imported {
  created: number
  /** Would be, in a dry run. */
  new: number
  /** There already, with the same data. */
  identical: number
  /** Lines with problems. */
  refused: number
  readonly problems: { readonly line: number; readonly problem: LocalizedText }[]
}

interface Row {
  readonly line: number
  readonly user: FileUser
}

interface Importing {
  readonly records: AsyncIterable<FileRecord> | Iterable<FileRecord>
  readonly dryRun: boolean
  /** Users of a file; their keys and passports are kept in memory, to find duplicates. */
  readonly most: number
  send(some: InputOf<typeof importUsers>): Promise<OutputOf<typeof importUsers>>
  hash(password: string): Promise<string>
  readonly onProblem?: (line: number, problem: LocalizedText) => void
  /** Some more lines are done. */
  readonly onProgress?: () => void
}

/** Creates the users of a file, some at a time. Those that are there with the same data are skipped, so it can be done again. */
async function importFile({ records, dryRun, most, send, hash, onProblem, onProgress }: Importing): Promise<Imported> {
  const done: Imported = { created: 0, new: 0, identical: 0, refused: 0, problems: [] }
  const refuse = (line: number, problems: readonly LocalizedText[]): void => {
    done.refused++
    for (const problem of problems) {
      if (done.problems.length < MAX_TOLD) done.problems.push({ line, problem })
      onProblem?.(line, problem)
    }
  }
  const hashed = async ({ password = '', password_hash, ...rest }: FileUser) => ({
    ...rest,
    password_hash: password_hash ?? (await hash(password)),
  })
  const flush = async (rows: readonly Row[]): Promise<void> => {
    if (rows.length === 0) return
    const profiles = rows.map(({ user: { password: _, password_hash: __, ...profile } }) => profile)
    const asked = await send({ dry_run: true, users: profiles })
    const wanted = rows.filter((_, at) => asked.outcomes[at] === 'new')
    const users = dryRun ? [] : await Promise.all(wanted.map(({ user }) => hashed(user)))
    const answer =
      users.length > 0 ? (await send({ dry_run: false, users })).outcomes : wanted.map(() => 'new' as const)
    let next = 0
    for (const [at, { line }] of rows.entries()) {
      const outcome = asked.outcomes[at] === 'new' ? answer[next++] : asked.outcomes[at]
      if (typeof outcome === 'string') done[outcome]++
      else refuse(line, (outcome ?? []).map(takenText))
    }
  }
  const readRow = rowReader(refuse, most)
  let waiting: Row[] = []
  for await (const record of records) {
    const row = readRow(record)
    if (row) waiting.push(row)
    if (waiting.length < LIST_LIMITS.users.most) continue
    await flush(waiting)
    waiting = []
    onProgress?.()
  }
  await flush(waiting)
  return done
}

const takenText = (field: 'passport' | 'user_id'): LocalizedText =>
  wrong(field, localized(field === 'user_id' ? 'taken-with-other-data' : 'taken-by-another'))

const wrong = (field: string, problem: Detail): LocalizedText => localized('field-problem', { field, problem })

/** Reads records as users; refuses those with problems, and those that repeat an earlier line. */
function rowReader(refuse: (line: number, problems: readonly LocalizedText[]) => void, most: number) {
  const lines = { passport: new Map<string, number>(), user_id: new Map<string, number>() }
  return ({ line, value, problem }: FileRecord): Row | undefined => {
    if (problem !== undefined) return void refuse(line, [problem])
    if (lines.passport.size >= most) throw new Error(`the file has more than ${most} users; split it`)
    const user = userOf(value)
    if (Array.isArray(user)) return void refuse(line, user)
    const key = `${user.cid} ${user.user_id}`
    const passport = normalName(user.passport)
    const earlier = [
      ...[lines.passport.get(passport)].flatMap((at) =>
        at ? [wrong('passport', localized('is-of-line', { line: at }))] : [],
      ),
      ...[lines.user_id.get(key)].flatMap((at) =>
        at ? [wrong('user_id', localized('is-of-line-in-cid', { line: at }))] : [],
      ),
    ]
    if (earlier.length > 0) return void refuse(line, earlier)
    lines.passport.set(passport, line)
    lines.user_id.set(key, line)
    return { line, user }
  }
}

function userOf(value: unknown): FileUser | LocalizedText[] {
  try {
    return parseInput(fileUser, value)
  } catch (error) {
    if (!(error instanceof InvalidInput)) throw error
    return error.problems.map(({ field, problem }) => wrong(field, problem))
  }
}

/** Files of users: reading them, and creating who is in them. */
export const USERS_FILE = { records: recordsOf, import: importFile }
