import { z } from 'zod'
import type { UserRowKey } from '../../platform/db/personal-rows.ts'
import { type Db, sql } from '../../platform/db/sql.ts'
import { GRANT_REVOKED_AT, grantRevocationJoins } from './grant-store.ts'

/** The newest grants of one person that are looked at. */
const MOST = 10_000

const allowedApp = z.object({
  app_key: z.string(),
  /** Scopes of the grants that hold; empty where none does. */
  scopes: z
    .string()
    .nullable()
    .transform((words): readonly string[] => [...new Set(words?.split(' ') ?? [])]),
  /** When the oldest grant that holds was given; null where none does. */
  since: z.date().nullable(),
  /** When the last grant was withdrawn or ended. */
  withdrawn_at: z.date().nullable(),
})
export type AllowedApp = z.output<typeof allowedApp>

/** Each app that the person has allowed something, also in the past; in which the person allowed something last comes first. */
export const allowedAppsOf = (db: Db, { routingKey, cid, userId }: UserRowKey): Promise<AllowedApp[]> =>
  db.listWithCustomPlan(
    allowedApp,
    sql`select app_key, string_agg(array_to_string(scopes, ' '), ' ') filter (where revoked_at is null) as scopes,
          min(created_at) filter (where revoked_at is null) as since, max(revoked_at) as withdrawn_at
        from (select g.app_key, g.scopes, g.created_at, ${GRANT_REVOKED_AT} as revoked_at
              from user_grant g ${grantRevocationJoins(sql.part`${routingKey}::int`)}
              where g.routing_key = ${routingKey} and g.cid = ${cid} and g.user_id = ${userId}
              order by g.created_at desc limit ${MOST}) g
        group by app_key order by max(created_at) desc, app_key`,
  )
