import { z } from 'zod'
import { byShard, keyOfRow, readByShard } from '../../platform/db/shards.ts'
import { type Db, sql } from '../../platform/db/sql.ts'
import { credentialsOf, type KeyRow, keyRow, keysOf, withPassports } from './bulk-store.ts'
import { storedPassport } from './store.ts'
import { user } from './wire.ts'

const existing = user.omit({ created_at: true })
const profileRow = existing.omit({ passport: true }).extend(keyRow.shape)

const profilesOf = (shard: Db, users: readonly KeyRow[]): Promise<z.output<typeof profileRow>[]> =>
  shard.many(
    profileRow,
    sql`select k.routing_key, u.cid, u.user_id, u.name, u.gender, u.big_avatar_url, u.phone_number, u.status
        from ${keysOf(users)}
        cross join lateral (
          select cid, user_id, name, gender, big_avatar_url, phone_number, status from user_profile
          where routing_key = k.routing_key and cid = k.cid and user_id = k.user_id offset 0
        ) u`,
  )

/** Users with these keys. */
export async function existingUsers(db: Db, users: readonly KeyRow[]): Promise<z.output<typeof existing>[]> {
  const profiles = await readByShard(db, users, keyOfRow, profilesOf)
  return withPassports(profiles, await credentialsOf(db, profiles))
}

/** Which of these passports are taken. */
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
