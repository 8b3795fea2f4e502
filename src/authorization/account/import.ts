import { z } from 'zod'
import { recordAudit } from '../../platform/audit/index.ts'
import { type Deps, inTransaction } from '../../platform/deps.ts'
import { problem } from '../../platform/lib/json/field-problem.ts'
import { type InputOf, InvalidInput, type OutputOf, operation, parseInput } from '../../platform/lib/json/input.ts'
import { LIST_LIMITS, listOf } from '../../platform/lib/json/shape.ts'
import { type Detail, type LocalizedText, localized } from '../../platform/lib/localized-text.ts'
import { normalName } from '../../platform/lib/precis.ts'
import { existingUsers, insertUsers, takenPassports } from './bulk-store.ts'
import { type FileRecord, recordsOf } from './users-file.ts'
import { newUser, routingKeyOf } from './wire.ts'

/** Upper bound on what an imported hash may cost to verify: 256 MiB of memory and ten passes. */
const MAX_COST = { m: 262_144, t: 10, p: 8 } as const
const PHC = /^\$argon2(?:id|i|d)\$v=19\$m=(\d{1,6}),t=(\d{1,2}),p=(\d)\$[A-Za-z0-9+/]{11,64}\$[A-Za-z0-9+/]{22,128}$/

/** An argon2 hash as a PHC string, which carries algorithm and parameters. */
const passwordHash = z
  .string()
  .max(512)
  .refine(
    (text) => {
      const [, m = 0, t = 0, p = 0] = PHC.exec(text)?.map(Number) ?? []
      return m >= 8 && m <= MAX_COST.m && t >= 1 && t <= MAX_COST.t && p >= 1 && p <= MAX_COST.p
    },
    problem('must-be-argon2', { m: MAX_COST.m, t: MAX_COST.t, p: MAX_COST.p }),
  )

const profile = newUser.omit({ password: true })

/** A user in a file, with either a password or its hash. */
const fileUser = profile
  .extend({ password: newUser.shape.password.optional(), password_hash: passwordHash.optional() })
  .refine(({ password, password_hash }) => (password === undefined) !== (password_hash === undefined), {
    path: ['password'],
    ...problem('one-password'),
  })

/** Users to import: a dry run takes no passwords, an import takes their hashes. */
const userImport = z.discriminatedUnion('dry_run', [
  z.strictObject({ dry_run: z.literal(true), users: listOf('users', profile).min(1) }),
  z.strictObject({
    dry_run: z.literal(false),
    users: listOf('users', profile.extend({ password_hash: passwordHash })).min(1),
  }),
])

/** `new` in a dry run; `identical` whatever the password; or the fields whose values are taken. */
type ImportOutcome = 'new' | 'created' | 'identical' | readonly ('passport' | 'user_id')[]

/** Some of the users were created concurrently, after the check. */
class ConcurrentImport extends Error {}
const MAX_ATTEMPTS = 5

export const importUsers = operation(userImport, async (deps: Deps, given): Promise<{ outcomes: ImportOutcome[] }> => {
  for (let attempt = 1; ; attempt++) {
    try {
      return await importOnce(deps, given)
    } catch (error) {
      if (!(error instanceof ConcurrentImport) || attempt === MAX_ATTEMPTS) throw error
    }
  }
})

function importOnce(deps: Deps, given: z.output<typeof userImport>): Promise<{ outcomes: ImportOutcome[] }> {
  const users = given.users.map((user) => ({ ...user, routing_key: routingKeyOf(user.cid, user.user_id) }))
  return inTransaction(deps, async (inside, db) => {
    const existing = new Map((await existingUsers(db, users)).map((user) => [keyOf(user), user]))
    const passports = users.map(({ passport }) => normalName(passport))
    const taken = new Set(await takenPassports(db, passports))
    const keys = new Set(existing.keys())
    const outcomes = users.map((user): ImportOutcome => {
      const stored = existing.get(keyOf(user))
      const isOwn = stored !== undefined && normalName(stored.passport) === normalName(user.passport)
      if (isOwn && COMPARED.every((field) => user[field] === stored[field])) return 'identical'
      const fields = [
        ...(!isOwn && taken.has(normalName(user.passport)) ? (['passport'] as const) : []),
        ...(keys.has(keyOf(user)) ? (['user_id'] as const) : []),
      ]
      if (fields.length > 0) return fields
      keys.add(keyOf(user))
      taken.add(normalName(user.passport))
      return 'new'
    })
    if (given.dry_run) return { outcomes }
    const created = given.users
      .filter((_, index) => outcomes[index] === 'new')
      .map((user) => ({ ...user, routing_key: routingKeyOf(user.cid, user.user_id) }))
    if (created.length > 0) {
      if (!(await insertUsers(db, created, deps.clock.now()))) throw new ConcurrentImport()
      const detail = { count: created.length, users: created.map(({ cid, user_id }) => `${cid}/${user_id}`) }
      await recordAudit(inside, { event: 'users_imported', detail })
    }
    return { outcomes: outcomes.map((outcome) => (outcome === 'new' ? 'created' : outcome)) }
  })
}

const keyOf = ({ cid, user_id }: { cid: number; user_id: string }): string => `${cid} ${user_id}`

const COMPARED = ['name', 'gender', 'big_avatar_url', 'phone_number', 'status'] as const

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
