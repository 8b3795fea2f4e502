import { z } from 'zod'
import { byShard, keyOfRow, ofAllShards } from '../../platform/db/shards.ts'
import { type Db, sql } from '../../platform/db/sql.ts'
import { credentialsOf, type KeyRow, keyRow, keysOf, withPassports } from './bulk-store.ts'

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

const profileRow = keyRow.extend({ status: z.string() })

const demoUsers = (db: Db) =>
  ofAllShards(db, (shard) =>
    shard.many(profileRow, sql`select routing_key, cid, user_id, status from user_profile where demo`),
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
