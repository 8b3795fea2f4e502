import { z } from 'zod'
import { recordAudit } from '../../platform/audit/index.ts'
import { type Deps, inTransaction } from '../../platform/deps.ts'
import { problem } from '../../platform/lib/json/field-problem.ts'
import { operation } from '../../platform/lib/json/input.ts'
import { listOf } from '../../platform/lib/json/shape.ts'
import { normalName } from '../../platform/lib/precis.ts'
import { existingUsers, insertUsers, takenPassports } from './bulk-store.ts'
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
    problem('must-be-argon2', MAX_COST),
  )

const profile = newUser.omit({ password: true })

/** A user in a file, with either a password or its hash. */
export const fileUser = profile
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
