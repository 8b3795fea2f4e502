import { z } from 'zod'
import { beginsWith, cursorOf, listPageOfShards, type Page, pageOf, withCursor } from '../../platform/db/page.ts'
import { ofPerson, type UserRowKey } from '../../platform/db/personal-rows.ts'
import { byShard, keyOfRow, ofAllShards, readByShard } from '../../platform/db/shards.ts'
import { type Db, sql } from '../../platform/db/sql.ts'
import { normalName } from '../../platform/lib/precis.ts'
import { findCredential, PROFILE, SHOWN_PASSPORT, storedPassport } from './store.ts'
import { type User, type UserFilter, user } from './wire.ts'

/**
 * Many users at once: lists, imports, test users and the demo. Profiles and credentials take two statements, since
 * credentials are stored by passport, possibly on another shard.
 */

const keyRow = z.object({ routing_key: z.number(), cid: z.number(), user_id: z.string() })
export type KeyRow = z.output<typeof keyRow>

/** `passport` is the form for display. */
const credentialRow = keyRow.extend({ passport: z.string() })
export type CredentialRow = z.output<typeof credentialRow>

const textOfKey = ({ routing_key, cid, user_id }: KeyRow): string => `${routing_key} ${cid} ${user_id}`

/** The keys as a table `k` for use in a statement. */
const keysOf = (rows: readonly KeyRow[]) =>
  sql.part`unnest(${rows.map((row) => row.routing_key)}::int[], ${rows.map((row) => row.cid)}::int[],
             ${rows.map((row) => row.user_id)}::text[]) as k (routing_key, cid, user_id)`

const credentialsOf = (db: Db, rows: readonly KeyRow[]): Promise<CredentialRow[]> =>
  db.listWithCustomPlan(
    credentialRow,
    sql`select c.routing_key, c.cid, c.user_id, ${SHOWN_PASSPORT} as passport from ${keysOf(rows)}
        join user_credential c using (routing_key, cid, user_id)`,
  )

/** Joins profiles with their passports. A profile whose credential is still being written is left out. */
function withPassports<Profile extends KeyRow>(
  profiles: readonly Profile[],
  credentials: readonly CredentialRow[],
): (Omit<Profile, 'routing_key'> & { passport: string })[] {
  const passports = new Map(credentials.map((credential) => [textOfKey(credential), credential.passport]))
  return profiles.flatMap((profile) => {
    const passport = passports.get(textOfKey(profile))
    const { routing_key: _, ...shown } = profile
    return passport === undefined ? [] : [{ ...shown, passport }]
  })
}

// ---- imports

const existing = user.omit({ created_at: true })
const importedProfile = existing.omit({ passport: true }).extend(keyRow.shape)

const importedProfiles = (shard: Db, users: readonly KeyRow[]) =>
  shard.many(
    importedProfile,
    sql`select k.routing_key, u.cid, u.user_id, u.name, u.gender, u.big_avatar_url, u.phone_number, u.status
        from ${keysOf(users)}
        cross join lateral (
          select cid, user_id, name, gender, big_avatar_url, phone_number, status from user_profile
          where routing_key = k.routing_key and cid = k.cid and user_id = k.user_id offset 0
        ) u`,
  )

export async function existingUsers(db: Db, users: readonly KeyRow[]) {
  const profiles = await readByShard(db, users, keyOfRow, importedProfiles)
  return withPassports(profiles, await credentialsOf(db, profiles))
}

export const takenPassports = (db: Db, passports: readonly string[]): Promise<string[]> =>
  db.values(
    z.string(),
    sql`select c.passport from unnest(${passports}::text[]) as given (passport)
        cross join lateral (select passport from user_credential where passport = given.passport offset 0) c`,
  )

type NewRow = KeyRow & Omit<z.output<typeof existing>, 'cid' | 'user_id'> & { readonly password_hash: string }

const insertProfiles = (shard: Db, users: readonly NewRow[], now: Date): Promise<number> =>
  shard.exec(
    sql`insert into user_profile (routing_key, cid, user_id, name, gender, big_avatar_url, phone_number, status, created_at)
        select k.routing_key, k.cid, k.user_id, k.name, k.gender, k.big_avatar_url, k.phone_number, k.status, ${now}::timestamptz
        from unnest(
          ${users.map((row) => row.routing_key)}::int[], ${users.map((row) => row.cid)}::int[],
          ${users.map((row) => row.user_id)}::text[], ${users.map((row) => row.name)}::text[],
          ${users.map((row) => row.gender)}::text[], ${users.map((row) => row.big_avatar_url)}::text[],
          ${users.map((row) => row.phone_number)}::text[], ${users.map((row) => row.status)}::text[]
        ) as k (routing_key, cid, user_id, name, gender, big_avatar_url, phone_number, status)
        order by k.routing_key, k.cid, k.user_id
        on conflict do nothing`,
  )

/** False if a key or passport was taken concurrently: the caller must roll back. */
export async function insertUsers(db: Db, users: readonly NewRow[], now: Date): Promise<boolean> {
  let profiles = 0
  for (const [shard, own] of byShard(db, users, keyOfRow)) profiles += await insertProfiles(shard, own, now)
  const passports = users.map((row) => storedPassport(row.passport))
  const credentials = await db.exec(
    sql`insert into user_credential (passport, passport_shown, password_hash, routing_key, cid, user_id)
        select k.passport, k.passport_shown, k.password_hash, k.routing_key, k.cid, k.user_id
        from unnest(
          ${passports.map(({ passport }) => passport)}::text[], ${passports.map(({ shown }) => shown)}::text[],
          ${users.map((row) => row.password_hash)}::text[],
          ${users.map((row) => row.routing_key)}::int[], ${users.map((row) => row.cid)}::int[],
          ${users.map((row) => row.user_id)}::text[]
        ) as k (passport, passport_shown, password_hash, routing_key, cid, user_id)
        order by k.passport
        on conflict do nothing`,
  )
  return profiles === users.length && credentials === users.length
}

// ---- test users of an app

const testUser = keyRow.extend({ name: z.string(), phone_number: z.string().nullable() })

export const setTestOf = (db: Db, person: UserRowKey, appKey: string): Promise<number> =>
  db.of(person.routingKey).exec(sql`update user_profile set test_of = ${appKey} where ${ofPerson(person)}`)

const testProfiles = (db: Db, appKey: string) =>
  ofAllShards(db, (shard) =>
    shard.listWithCustomPlan(
      testUser,
      sql`select routing_key, cid, user_id, name, phone_number from user_profile where test_of = ${appKey} order by user_id`,
    ),
  )

export async function listTestUsers(db: Db, appKey: string) {
  const profiles = await testProfiles(db, appKey)
  const users = withPassports(profiles, await credentialsOf(db, profiles))
  return users.sort((a, b) => (a.user_id < b.user_id ? -1 : 1))
}

export const setTestPassword = async (db: Db, appKey: string, passwordHash: string): Promise<number> =>
  db.exec(
    sql`update user_credential c set password_hash = ${passwordHash} from ${keysOf(await testProfiles(db, appKey))}
        where c.routing_key = k.routing_key and c.cid = k.cid and c.user_id = k.user_id`,
  )

const profileRow = user.omit({ passport: true }).extend(keyRow.shape)
type Profile = z.output<typeof profileRow>

/** A page of users, oldest first; ordered by passport if filtered by it. */
export async function listUsers(db: Db, filter: UserFilter): Promise<Page<User>> {
  if (filter.passport === undefined) {
    const { rows, next } = await profilePage(db, filter)
    return { rows: withPassports(rows, await credentialsOf(db, rows)), next }
  }
  const { rows, next } = await credentialPage(db, filter.passport, filter)
  const profiles = new Map((await profilesOf(db, rows)).map((profile) => [textOfKey(profile), profile]))
  const inOrder = rows.flatMap((credential) => profiles.get(textOfKey(credential)) ?? [])
  return { rows: withPassports(inOrder, rows), next }
}

const profilePage = (db: Db, filter: UserFilter): Promise<Page<Profile>> => {
  const listing = {
    row: profileRow,
    columns: sql.part`routing_key, ${PROFILE}`,
    from: sql.part`user_profile
        where (${filter.status}::text is null or status = ${filter.status})
          and (${filter.name}::text is null or lower(name) like lower(${beginsWith(filter.name)}))
          and (${filter.phone_number}::text is null or phone_number like ${beginsWith(filter.phone_number)})`,
    keys: { created_at: 'timestamptz', cid: 'int4', user_id: 'text' },
  }
  return listPageOfShards(db, listing, filter)
}

async function credentialPage(db: Db, passport: string, { limit, after }: UserFilter) {
  const last = after?.[3]
  const rows = await db.listWithCustomPlan(
    withCursor(credentialRow),
    sql`select routing_key, cid, user_id, ${SHOWN_PASSPORT} as passport,
          ${cursorOf(sql.part`to_timestamp(0), cid, user_id, passport`)}
        from user_credential
        where passport like ${beginsWith(normalName(passport))} and (${last}::text is null or passport ~>~ ${last})
        order by user_credential.passport using ~<~ limit ${limit + 1}`,
  )
  return pageOf(rows, limit)
}

const profilesOf = (db: Db, rows: readonly CredentialRow[]): Promise<Profile[]> =>
  readByShard(db, rows, keyOfRow, (shard, own) =>
    shard.listWithCustomPlan(
      profileRow,
      sql`select routing_key, ${PROFILE} from ${keysOf(own)} join user_profile u using (routing_key, cid, user_id)`,
    ),
  )

const foundUserRow = user.pick({ cid: true, user_id: true, phone_number: true, status: true, created_at: true })
const FOUND = sql.part`cid, user_id, phone_number, status, created_at`

/** At most one. Two statements, since the credential may be on another shard. */
export async function findByPassport(db: Db, typed: string) {
  const key = await findCredential(db, typed)
  if (!key) return []
  return db.of(key.routingKey).many(foundUserRow, sql`select ${FOUND} from user_profile where ${ofPerson(key)}`)
}

/** Several people may share a number. */
export async function findByPhone(db: Db, numbers: readonly string[], limit: number) {
  const found = await ofAllShards(db, (shard) =>
    shard.listWithCustomPlan(
      foundUserRow,
      sql`select ${FOUND} from user_profile
          where phone_number = any (${numbers}) order by created_at limit ${limit}`,
    ),
  )
  return found.sort((a, b) => a.created_at.getTime() - b.created_at.getTime()).slice(0, limit)
}

/** The demo's users, marked as such when they are created. */

async function markDemoUsers(db: Db, passports: readonly string[]): Promise<void> {
  const users = await db.many(
    keyRow,
    sql`select routing_key, cid, user_id from user_credential where passport = any(${passports})`,
  )
  for (const [shard, own] of byShard(db, users, keyOfRow)) {
    await shard.exec(
      sql`update user_profile u set demo = true from ${keysOf(own)}
          where u.routing_key = k.routing_key and u.cid = k.cid and u.user_id = k.user_id`,
    )
  }
}

const hasUsers = async (db: Db): Promise<boolean> =>
  (await ofAllShards(db, (shard) => shard.many(z.object({}), sql`select from user_profile limit 1`))).length > 0

const demoRow = keyRow.extend({ status: z.string() })

const demoUsers = (db: Db) =>
  ofAllShards(db, (shard) =>
    shard.many(demoRow, sql`select routing_key, cid, user_id, status from user_profile where demo`),
  )

/** Passport and status of demo users that are not blocked. */
async function findActive(db: Db) {
  const profiles = (await demoUsers(db)).filter(({ status }) => status !== 'blocked')
  return withPassports(profiles, await credentialsOf(db, profiles))
    .map(({ passport, status }) => ({ name: passport, status }))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** Also deletes their passwords and sessions. */
async function deleteDemoUsers(db: Db): Promise<number> {
  const users = await demoUsers(db)
  const deleteFrom = (where: Db, table: string, rows: readonly KeyRow[]) =>
    where.exec(
      sql`delete from ${sql.identifier(table)} t using ${keysOf(rows)}
          where t.routing_key = k.routing_key and t.cid = k.cid and t.user_id = k.user_id`,
    )
  await deleteFrom(db, 'user_credential', users)
  for (const [shard, own] of byShard(db, users, keyOfRow)) {
    await deleteFrom(shard, 'browser_session', own)
    await deleteFrom(shard, 'user_profile', own)
  }
  return users.length
}

/** What the demo does with its users; every room that holds demo rows exports such an object. */
export const DEMO_USERS = {
  /** Whether there are any users, demo or not. */
  hasRows: hasUsers,
  mark: markDemoUsers,
  findActive,
  keys: demoUsers,
  remove: deleteDemoUsers,
}
