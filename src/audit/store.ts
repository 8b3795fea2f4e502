import { type Db, sql } from '../db/sql.ts'

/** Who did it: somebody over the admin API, on the command line, an app, a user, a partner, or the service by itself. */
export type Actor = 'operator' | 'cli' | 'app' | 'user' | 'partner' | 'system'

/** An event that an operator or investigator may ask about later. `detail` holds ids and codes, never a secret. */
export interface AuditEvent {
  readonly at: Date
  readonly event: string
  readonly actor: Actor
  readonly routingKey?: number
  readonly appKey?: string
  readonly cid?: number
  readonly userId?: string
  readonly detail?: object
}

/** Call it in the transaction of the change: after a crash either both are there, or neither. */
export const recordAudit = (db: Db, event: AuditEvent): Promise<number> =>
  db.exec(
    sql`insert into audit_event (routing_key, at, event, actor, app_key, cid, user_id, detail)
        values (${event.routingKey ?? 0}, ${event.at}, ${event.event}, ${event.actor}, ${event.appKey}, ${event.cid},
                ${event.userId}, ${event.detail ?? {}})`,
  )
