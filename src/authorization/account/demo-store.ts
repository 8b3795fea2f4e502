import { z } from 'zod'
import { byShard, keyOfRow, ofAllShards, readByShard } from '../../platform/db/shards.ts'
import { type Db, sql } from '../../platform/db/sql.ts'

/**
 * The demo's users. They are marked when they are created. Credentials are read
 * apart from profiles: they are found by passport, and may lie on another shard.
 */

const keyRow = z.object({ routing_key: z.number(), cid: z.number(), user_id: z.string() })
type KeyRow = z.output<typeof keyRow>
const credentialRow = keyRow.extend({ passport: z.string() })

const keysOf = (rows: readonly KeyRow[]) =>
  sql.part`unnest(${rows.map((row) => row.routing_key)}::int[], ${rows.map((row) => row.cid)}::int[],
             ${rows.map((row) => row.user_id)}::text[]) as k (routing_key, cid, user_id)`

const withPassports = (db: Db, passports: readonly string[]): Promise<z.output<typeof credentialRow>[]> =>
  db.many(
    credentialRow,
    sql`select routing_key, cid, user_id, passport from user_credential where passport = any(${passports})`,
  )

async function markDemoUsers(db: Db, passports: readonly string[]): Promise<void> {
  for (const [shard, own] of byShard(db, await withPassports(db, passports), keyOfRow)) {
    await shard.exec(
      sql`update user_profile u set demo = true from ${keysOf(own)}
          where u.routing_key = k.routing_key and u.cid = k.cid and u.user_id = k.user_id`,
    )
  }
}

const hasUsers = async (db: Db): Promise<boolean> =>
  (await ofAllShards(db, (shard) => shard.many(z.object({}), sql`select from user_profile limit 1`))).length > 0

/** A user of the demo: passport and status. */
interface DemoUser {
  readonly name: string
  readonly status: string
}

interface UnmarkedUsers {
  /** One cid for all of them. */
  readonly cid: number
  readonly users: readonly { readonly passport: string; readonly user_id: string }[]
}

/** Users of the demo that are not blocked. Where the schema has no mark yet: those of these names. */
const findActive = (db: Db, unmarked?: UnmarkedUsers): Promise<DemoUser[]> =>
  unmarked ? findUnmarked(db, unmarked) : findMarked(db)

const textOf = ({ cid, user_id }: Pick<KeyRow, 'cid' | 'user_id'>): string => `${cid} ${user_id}`

/** Profiles with their passports in place of names, by passport. */
function named(
  profiles: readonly (KeyRow & { readonly status: string })[],
  credentials: readonly z.output<typeof credentialRow>[],
): DemoUser[] {
  const passports = new Map(credentials.map((one) => [textOf(one), one.passport]))
  return profiles
    .flatMap((profile) => {
      const name = passports.get(textOf(profile))
      return name === undefined ? [] : [{ name, status: profile.status }]
    })
    .sort((one, other) => (one.name < other.name ? -1 : 1))
}

const profileRow = keyRow.extend({ status: z.string() })

async function findMarked(db: Db): Promise<DemoUser[]> {
  const profiles = await ofAllShards(db, (shard) =>
    shard.many(
      profileRow,
      sql`select routing_key, cid, user_id, status from user_profile where demo and status <> 'blocked'`,
    ),
  )
  const credentials = await db.many(
    credentialRow,
    sql`select c.routing_key, c.cid, c.user_id, c.passport
        from ${keysOf(profiles)} join user_credential c using (routing_key, cid, user_id)`,
  )
  return named(profiles, credentials)
}

async function findUnmarked(db: Db, { cid, users }: UnmarkedUsers): Promise<DemoUser[]> {
  const ids = new Map(users.map((user) => [user.passport, user.user_id]))
  const found = await withPassports(db, [...ids.keys()])
  const credentials = found.filter((one) => one.cid === cid && one.user_id === ids.get(one.passport))
  const profiles = await readByShard(db, credentials, keyOfRow, (shard, own) =>
    shard.many(
      profileRow,
      sql`select u.routing_key, u.cid, u.user_id, u.status
          from ${keysOf(own)} join user_profile u using (routing_key, cid, user_id) where u.status <> 'blocked'`,
    ),
  )
  return named(profiles, credentials)
}

const demoUserKeys = (db: Db): Promise<KeyRow[]> =>
  ofAllShards(db, (shard) => shard.many(keyRow, sql`select routing_key, cid, user_id from user_profile where demo`))

/** With their passwords and sessions. */
async function deleteDemoUsers(db: Db): Promise<number> {
  const users = await demoUserKeys(db)
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

/** What the demo does with its users; each room with rows of the demo has such an object. */
export const DEMO_USERS = {
  /** Whether there are users at all, of the demo or not. */
  hasRows: hasUsers,
  mark: markDemoUsers,
  findActive,
  keys: demoUserKeys,
  remove: deleteDemoUsers,
}
