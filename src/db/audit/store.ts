import { type Db, sql } from '../sql.ts'

/** Something that an operator or an investigator asks about later. `detail` holds ids and codes, never a secret. */
export interface AuditEvent {
  readonly at: Date
  readonly event: string
  readonly routingKey?: number
  readonly appKey?: string
  readonly cid?: number
  readonly userId?: string
  readonly detail?: object
}

export const recordAudit = (db: Db, event: AuditEvent): Promise<number> =>
  db.exec(
    sql`insert into audit_event (routing_key, at, event, app_key, cid, user_id, detail)
        values (${event.routingKey ?? 0}, ${event.at}, ${event.event}, ${event.appKey}, ${event.cid}, ${event.userId},
                ${event.detail ?? {}})`,
  )
