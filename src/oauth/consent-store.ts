import { z } from 'zod'
import { type Db, sql } from '../db/sql.ts'

/** The SQL of the decision on a consent form. The code and the grant that follow are in store.ts. */

export type Decided = 'approve' | 'refuse'

export interface FirstDecision {
  readonly routingKey: number
  readonly formId: string
  readonly decision: Decided
  /** When the form is too old to be sent, and the decision may be deleted. */
  readonly expiresAt: Date
}

/** True for the first decision; later ones wait for its transaction to end. */
export const decideFirst = async (
  db: Db,
  { routingKey, formId, decision, expiresAt }: FirstDecision,
): Promise<boolean> =>
  (await db.exec(
    sql`insert into consent_decision (routing_key, form_id, decision, expires_at)
        values (${routingKey}, ${formId}, ${decision}, ${expiresAt})
        on conflict (routing_key, form_id) do nothing`,
  )) === 1

export const findDecision = async (db: Db, routingKey: number, formId: string): Promise<Decided | undefined> => {
  const found = await db.maybe(
    z.object({ decision: z.enum(['approve', 'refuse']) }),
    sql`select decision from consent_decision where routing_key = ${routingKey} and form_id = ${formId}`,
  )
  return found?.decision
}
