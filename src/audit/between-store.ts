import { z } from 'zod'
import { type Db, sql } from '../db/sql.ts'

const auditRow = z.object({
  at: z.date(),
  event: z.string(),
  actor: z.string(),
  app_key: z.string().nullable(),
  cid: z.number().nullable(),
  user_id: z.string().nullable(),
  detail: z.record(z.string(), z.unknown()),
})
export type AuditRow = z.output<typeof auditRow>

interface About {
  readonly from: Date
  readonly until: Date
  /** Events of this app, or of this user. */
  readonly appKey: string | null
  readonly cid: number | null
  readonly userId: string | null
}

/** What the audit log has of a short time about an app or a user, oldest first. */
export const auditBetween = (db: Db, { from, until, appKey, cid, userId }: About, limit: number): Promise<AuditRow[]> =>
  db.listWithCustomPlan(
    auditRow,
    sql`select at, event, actor, app_key, cid, user_id, detail from audit_event
        where at >= ${from} and at < ${until} and (app_key = ${appKey} or (cid = ${cid} and user_id = ${userId}))
        order by at limit ${limit}`,
  )
