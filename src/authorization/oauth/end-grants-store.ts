import { z } from 'zod'
import type { UserRowKey } from '../../platform/db/personal-rows.ts'
import { type Db, sql } from '../../platform/db/sql.ts'
import { GRANT_REVOKED_AT, grantRevocationJoins } from './grant-store.ts'

/** Which grants of one person end: one of them, or all to one app. */
export type WhichGrants = { readonly grantId: string } | { readonly appKey: string }

const ended = z.object({
  app_key: z.string(),
  /** False where it had ended before. */
  is_new: z.boolean(),
})
export type EndedGrant = z.output<typeof ended>

/**
 * Grants end with all that came of them: their code and tokens are over with them. What was remembered of what the app may
 * have without being asked goes too. `db` is a transaction that has locked the person.
 */
export async function endGrantsOf(db: Db, person: UserRowKey, which: WhichGrants, now: Date): Promise<EndedGrant[]> {
  const { routingKey, cid, userId } = person
  const chosen = 'appKey' in which ? sql.part`g.app_key = ${which.appKey}` : sql.part`g.grant_id = ${which.grantId}`
  const found = await db.listWithCustomPlan(
    ended,
    sql`with asked as (
          select g.grant_id, g.app_key, ${GRANT_REVOKED_AT} is null as is_new
          from user_grant g ${grantRevocationJoins(sql.part`${routingKey}::int`)}
          where g.routing_key = ${routingKey} and g.cid = ${cid} and g.user_id = ${userId} and ${chosen}
        ), ended as (
          update user_grant g set revoked_at = ${now} from asked
          where g.routing_key = ${routingKey} and g.grant_id = asked.grant_id and g.revoked_at is null and asked.is_new
        )
        select app_key, is_new from asked`,
  )
  const apps = 'appKey' in which ? [which.appKey] : [...new Set(found.map(({ app_key }) => app_key))]
  await db.exec(
    sql`delete from remembered_consent
        where routing_key = ${routingKey} and cid = ${cid} and user_id = ${userId} and app_key = any (${apps}::text[])`,
  )
  return found
}

/** Whether the app still has a grant of the person. */
export const hasLiveGrant = async (db: Db, { routingKey, cid, userId }: UserRowKey, appKey: string): Promise<boolean> =>
  (
    await db.listWithCustomPlan(
      z.object({}),
      sql`select from user_grant g ${grantRevocationJoins(sql.part`${routingKey}::int`)}
          where g.routing_key = ${routingKey} and g.cid = ${cid} and g.user_id = ${userId} and g.app_key = ${appKey}
            and ${GRANT_REVOKED_AT} is null limit 1`,
    )
  ).length > 0

export const personOfGrant = (db: Db, routingKey: number, grantId: string): Promise<UserRowKey | undefined> =>
  db.maybe(
    z.object({ routingKey: z.number(), cid: z.number(), userId: z.string() }),
    sql`select routing_key as "routingKey", cid, user_id as "userId" from user_grant
        where routing_key = ${routingKey} and grant_id = ${grantId}`,
  )
