import { z } from 'zod'
import { type Db, type Fragment, sql } from '../../platform/db/sql.ts'
import type { UserKey } from '../account/index.ts'

const grantKey = z.object({ routing_key: z.number(), grant_id: z.string() })

/** Deletes all grants of these users and all grants to these micro-apps, with every code and token that belongs to them. */
export async function deleteGrantsOf(
  db: Db,
  users: readonly (UserKey & { readonly routing_key: number })[],
  appKeys: readonly string[],
): Promise<void> {
  const grants = await db.many(
    grantKey,
    sql`select routing_key, grant_id from user_grant where app_key = any(${appKeys})
        union
        select g.routing_key, g.grant_id
        from user_grant g
        join unnest(${users.map((user) => user.routing_key)}::int[], ${users.map((user) => user.cid)}::int[],
                    ${users.map((user) => user.user_id)}::text[]) as u (routing_key, cid, user_id)
          on (g.routing_key, g.cid, g.user_id) = (u.routing_key, u.cid, u.user_id)`,
  )
  const keys = grants.map((grant) => grant.routing_key)
  const ids = grants.map((grant) => grant.grant_id)
  const deleteFrom = (table: Fragment) =>
    db.exec(
      sql`delete from ${table} where (routing_key, grant_id) in
            (select g.key, g.id from unnest(${keys}::int[], ${ids}::uuid[]) as g (key, id))`,
    )
  await db.exec(
    sql`delete from remembered_consent where app_key = any(${appKeys}) or (routing_key, cid, user_id) in
          (select u.key, u.cid, u.id
           from unnest(${users.map((user) => user.routing_key)}::int[], ${users.map((user) => user.cid)}::int[],
                       ${users.map((user) => user.user_id)}::text[]) as u (key, cid, id))`,
  )
  for (const table of ['access_token', 'refresh_token', 'authorization_code', 'used_code', 'user_grant']) {
    await deleteFrom(sql.identifier(table))
  }
}
