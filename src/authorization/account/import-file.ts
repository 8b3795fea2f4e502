import type { z } from 'zod'
import { type InputOf, InvalidInput, type OutputOf, parseInput } from '../../platform/lib/json/input.ts'
import { LIST_LIMITS } from '../../platform/lib/json/shape.ts'
import { type Detail, type LocalizedText, localized } from '../../platform/lib/localized-text.ts'
import { normalName } from '../../platform/lib/precis.ts'
import { fileUser, type importUsers } from './import.ts'
import { type FileRecord, recordsOf } from './users-file.ts'

type FileUser = z.output<typeof fileUser>

const MAX_PROBLEMS = 1_000

interface Row {
  readonly line: number
  readonly user: FileUser
}

interface ImportOptions {
  readonly records: AsyncIterable<FileRecord> | Iterable<FileRecord>
  readonly dryRun: boolean
  /** Maximum users per file: keys and passports are held in memory to find duplicates. */
  readonly most: number
  send(batch: InputOf<typeof importUsers>): Promise<OutputOf<typeof importUsers>>
  hash(password: string): Promise<string>
  readonly onProblem?: (line: number, problem: LocalizedText) => void
  readonly onProgress?: () => void
}

/** Creates users in batches. Those who exist with the same data are skipped, so it can be repeated. */
async function importFile({ records, dryRun, most, send, hash, onProblem, onProgress }: ImportOptions) {
  const problems: { readonly line: number; readonly problem: LocalizedText }[] = []
  const done = { created: 0, new: 0, identical: 0, refused: 0, problems }
  const refuse = (line: number, texts: readonly LocalizedText[]): void => {
    done.refused++
    for (const problem of texts) {
      if (problems.length < MAX_PROBLEMS) problems.push({ line, problem })
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
    const checked = await send({ dry_run: true, users: profiles })
    const newRows = rows.filter((_, index) => checked.outcomes[index] === 'new')
    const users = dryRun ? [] : await Promise.all(newRows.map(({ user }) => hashed(user)))
    const created =
      users.length > 0 ? (await send({ dry_run: false, users })).outcomes : newRows.map(() => 'new' as const)
    let next = 0
    for (const [index, { line }] of rows.entries()) {
      const outcome = checked.outcomes[index] === 'new' ? created[next++] : checked.outcomes[index]
      if (typeof outcome === 'string') done[outcome]++
      else refuse(line, (outcome ?? []).map(takenText))
    }
  }
  const readRow = rowReader(refuse, most)
  let batch: Row[] = []
  for await (const record of records) {
    const row = readRow(record)
    if (row) batch.push(row)
    if (batch.length < LIST_LIMITS.users) continue
    await flush(batch)
    batch = []
    onProgress?.()
  }
  await flush(batch)
  return done
}

const takenText = (field: 'passport' | 'user_id'): LocalizedText =>
  wrong(field, localized(field === 'user_id' ? 'taken-with-other-data' : 'taken-by-another'))

const wrong = (field: string, problem: Detail): LocalizedText => localized('field-problem', { field, problem })

/** Parses records as users; refuses invalid ones and duplicates of earlier lines. */
function rowReader(refuse: (line: number, problems: readonly LocalizedText[]) => void, most: number) {
  const lines = { passport: new Map<string, number>(), user_id: new Map<string, number>() }
  return ({ line, value, problem }: FileRecord): Row | undefined => {
    if (problem !== undefined) return void refuse(line, [problem])
    if (lines.passport.size >= most) throw new Error(`the file has more than ${most} users; split it`)
    const user = userOf(value)
    if (Array.isArray(user)) return void refuse(line, user)
    const key = `${user.cid} ${user.user_id}`
    const passport = normalName(user.passport)
    const samePassport = lines.passport.get(passport)
    const sameKey = lines.user_id.get(key)
    const duplicates = [
      ...(samePassport ? [wrong('passport', localized('is-of-line', { line: samePassport }))] : []),
      ...(sameKey ? [wrong('user_id', localized('is-of-line-in-cid', { line: sameKey }))] : []),
    ]
    if (duplicates.length > 0) return void refuse(line, duplicates)
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

export const USERS_FILE = { records: recordsOf, import: importFile }
