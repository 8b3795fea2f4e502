import { z } from 'zod'
import { type Db, sql } from '../db/sql.ts'

/** The demo's users. They are marked when they are created; migration 0023 marked those of earlier builds. */

const markDemoUsers = (db: Db, passports: readonly string[]): Promise<number> =>
  db.exec(
    sql`update user_profile u set demo = true
        from user_credential c
        where c.passport = any(${passports}) and (u.routing_key, u.cid, u.user_id) = (c.routing_key, c.cid, c.user_id)`,
  )

const hasUsers = async (db: Db): Promise<boolean> =>
  (await db.one(z.object({ exists: z.boolean() }), sql`select exists (select 1 from user_profile)`)).exists

const userRow = z.object({ name: z.string(), status: z.string() })
/** A user of the demo: passport and status. */
type DemoUser = z.output<typeof userRow>

interface UnmarkedUsers {
  /** That of all of them. */
  readonly cid: number
  readonly users: readonly { readonly passport: string; readonly user_id: string }[]
}

/** Users of the demo that are not blocked. Where the schema has no mark yet: those of these names. */
const findActive = (db: Db, unmarked?: UnmarkedUsers): Promise<DemoUser[]> =>
  unmarked ? findUnmarked(db, unmarked) : findMarked(db)

const findMarked = (db: Db): Promise<DemoUser[]> =>
  db.many(
    userRow,
    sql`select c.passport as name, u.status
        from user_profile u
        join user_credential c on (c.routing_key, c.cid, c.user_id) = (u.routing_key, u.cid, u.user_id)
        where u.demo and u.status <> 'blocked'
        order by name`,
  )

const findUnmarked = (db: Db, { cid, users }: UnmarkedUsers): Promise<DemoUser[]> =>
  db.many(
    userRow,
    sql`select c.passport as name, u.status
        from unnest(${users.map((user) => user.passport)}::text[], ${users.map((user) => user.user_id)}::text[])
          as known (passport, user_id)
        join user_credential c on (c.passport, c.cid, c.user_id) = (known.passport, ${cid}, known.user_id)
        join user_profile u on (u.routing_key, u.cid, u.user_id) = (c.routing_key, c.cid, c.user_id)
        where u.status <> 'blocked'
        order by name`,
  )

const keyRow = z.object({ routing_key: z.number(), cid: z.number(), user_id: z.string() })

const demoUserKeys = (db: Db): Promise<z.output<typeof keyRow>[]> =>
  db.many(keyRow, sql`select routing_key, cid, user_id from user_profile where demo`)

/** With their passwords and sessions. */
async function deleteDemoUsers(db: Db): Promise<number> {
  await db.exec(
    sql`delete from browser_session s using user_profile u
        where u.demo and (s.routing_key, s.cid, s.user_id) = (u.routing_key, u.cid, u.user_id)`,
  )
  await db.exec(
    sql`delete from user_credential c using user_profile u
        where u.demo and (c.routing_key, c.cid, c.user_id) = (u.routing_key, u.cid, u.user_id)`,
  )
  return db.exec(sql`delete from user_profile where demo`)
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
