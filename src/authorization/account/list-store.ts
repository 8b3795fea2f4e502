import type { z } from 'zod'
import { beginsWith, cursorOf, listPageOfShards, type Page, pageOf, withCursor } from '../../platform/db/page.ts'
import { ofPerson } from '../../platform/db/personal-rows.ts'
import { keyOfRow, ofAllShards, readByShard } from '../../platform/db/shards.ts'
import { type Db, sql } from '../../platform/db/sql.ts'
import { normalName } from '../../platform/lib/precis.ts'
import {
  type CredentialRow,
  credentialRow,
  credentialsOf,
  keyRow,
  keysOf,
  textOfKey,
  withPassports,
} from './bulk-store.ts'
import { findCredential, PROFILE, SHOWN_PASSPORT } from './store.ts'
import { type User, type UserFilter, user } from './wire.ts'

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
