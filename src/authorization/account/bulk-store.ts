import { z } from 'zod'
import { ofPerson, type UserRowKey } from '../../platform/db/personal-rows.ts'
import { byShard, keyOfRow, ofAllShards, readByShard } from '../../platform/db/shards.ts'
import { type Db, sql } from '../../platform/db/sql.ts'
import { SHOWN_PASSPORT, storedPassport } from './store.ts'
import { user } from './wire.ts'

/**
 * Many users at once: lists, imports, test users and the demo. Profiles and credentials take two statements, since
 * credentials are stored by passport, possibly on another shard.
 */

export const keyRow = z.object({ routing_key: z.number(), cid: z.number(), user_id: z.string() })
export type KeyRow = z.output<typeof keyRow>

/** `passport` is the form for display. */
export const credentialRow = keyRow.extend({ passport: z.string() })
export type CredentialRow = z.output<typeof credentialRow>

export const textOfKey = ({ routing_key, cid, user_id }: KeyRow): string => `${routing_key} ${cid} ${user_id}`

/** The keys as a table `k` for use in a statement. */
export const keysOf = (rows: readonly KeyRow[]) =>
  sql.part`unnest(${rows.map((row) => row.routing_key)}::int[], ${rows.map((row) => row.cid)}::int[],
             ${rows.map((row) => row.user_id)}::text[]) as k (routing_key, cid, user_id)`

export const credentialsOf = (db: Db, rows: readonly KeyRow[]): Promise<CredentialRow[]> =>
  db.listWithCustomPlan(
    credentialRow,
    sql`select c.routing_key, c.cid, c.user_id, ${SHOWN_PASSPORT} as passport from ${keysOf(rows)}
        join user_credential c using (routing_key, cid, user_id)`,
  )

/** Joins profiles with their passports. A profile whose credential is still being written is left out. */
export function withPassports<Profile extends KeyRow>(
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
