import { z } from 'zod'
import { byShard, keyOfRow, readByShard } from '../../platform/db/shards.ts'
import { type Db, sql } from '../../platform/db/sql.ts'
import { SHOWN_PASSPORT, storedPassport } from './store.ts'
import { type UserKey, user } from './wire.ts'

interface Keyed extends UserKey {
  readonly routing_key: number
}

const keys = (users: readonly Keyed[]) =>
  sql.part`unnest(${users.map((one) => one.routing_key)}::int[], ${users.map((one) => one.cid)}::int[],
             ${users.map((one) => one.user_id)}::text[])`

const existing = user.omit({ created_at: true })
const passportRow = z.object({ cid: z.number(), user_id: z.string(), passport: z.string() })

const profileRow = existing.omit({ passport: true })

const profilesOf = (shard: Db, users: readonly Keyed[]): Promise<z.output<typeof profileRow>[]> =>
  shard.many(
    profileRow,
    sql`select u.cid, u.user_id, u.name, u.gender, u.big_avatar_url, u.phone_number, u.status
        from ${keys(users)} as k (routing_key, cid, user_id)
        cross join lateral (
          select cid, user_id, name, gender, big_avatar_url, phone_number, status from user_profile
          where routing_key = k.routing_key and cid = k.cid and user_id = k.user_id offset 0
        ) u`,
  )

/** Users with these keys. Two statements: credentials may lie on another shard. */
export async function existingUsers(db: Db, users: readonly Keyed[]): Promise<z.output<typeof existing>[]> {
  const profiles = await readByShard(db, users, keyOfRow, profilesOf)
  const credentials = await db.many(
    passportRow,
    sql`select c.cid, c.user_id, ${SHOWN_PASSPORT} as passport
        from ${keys(users)} as k (routing_key, cid, user_id)
        cross join lateral (
          select cid, user_id, passport, passport_shown from user_credential
          where routing_key = k.routing_key and cid = k.cid and user_id = k.user_id offset 0
        ) c`,
  )
  const textOf = ({ cid, user_id }: { cid: number; user_id: string }) => `${cid} ${user_id}`
  const passports = new Map(credentials.map((one) => [textOf(one), one.passport]))
  return profiles.flatMap((profile) => {
    const passport = passports.get(textOf(profile))
    return passport === undefined ? [] : [{ ...profile, passport }]
  })
}

/** Spellings that somebody has. */
export const takenPassports = (db: Db, passports: readonly string[]): Promise<string[]> =>
  db.values(
    z.string(),
    sql`select c.passport from unnest(${passports}::text[]) as asked (passport)
        cross join lateral (select passport from user_credential where passport = asked.passport offset 0) c`,
  )

type NewRow = Keyed & Omit<z.output<typeof existing>, 'cid' | 'user_id'> & { readonly password_hash: string }

const insertProfiles = (shard: Db, users: readonly NewRow[], now: Date): Promise<number> =>
  shard.exec(
    sql`insert into user_profile (routing_key, cid, user_id, name, gender, big_avatar_url, phone_number, status, created_at)
        select k.routing_key, k.cid, k.user_id, k.name, k.gender, k.big_avatar_url, k.phone_number, k.status, ${now}::timestamptz
        from unnest(
          ${users.map((one) => one.routing_key)}::int[], ${users.map((one) => one.cid)}::int[],
          ${users.map((one) => one.user_id)}::text[], ${users.map((one) => one.name)}::text[],
          ${users.map((one) => one.gender)}::text[], ${users.map((one) => one.big_avatar_url)}::text[],
          ${users.map((one) => one.phone_number)}::text[], ${users.map((one) => one.status)}::text[]
        ) as k (routing_key, cid, user_id, name, gender, big_avatar_url, phone_number, status)
        order by k.routing_key, k.cid, k.user_id
        on conflict do nothing`,
  )

/** False where somebody else has taken a key or passport meanwhile: then the transaction has to be undone. */
export async function insertUsers(db: Db, users: readonly NewRow[], now: Date): Promise<boolean> {
  let profiles = 0
  for (const [shard, own] of byShard(db, users, keyOfRow)) profiles += await insertProfiles(shard, own, now)
  const passports = users.map((one) => storedPassport(one.passport))
  const credentials = await db.exec(
    sql`insert into user_credential (passport, passport_shown, password_hash, routing_key, cid, user_id)
        select k.passport, k.passport_shown, k.password_hash, k.routing_key, k.cid, k.user_id
        from unnest(
          ${passports.map(({ passport }) => passport)}::text[], ${passports.map(({ shown }) => shown)}::text[],
          ${users.map((one) => one.password_hash)}::text[],
          ${users.map((one) => one.routing_key)}::int[], ${users.map((one) => one.cid)}::int[],
          ${users.map((one) => one.user_id)}::text[]
        ) as k (passport, passport_shown, password_hash, routing_key, cid, user_id)
        order by k.passport
        on conflict do nothing`,
  )
  return profiles === users.length && credentials === users.length
}
