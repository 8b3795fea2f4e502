import { z } from 'zod'
import type { UserRowKey } from '../../platform/db/personal-rows.ts'
import { type Db, sql } from '../../platform/db/sql.ts'
import { userByKey } from '../account/index.ts'
import { joinedMicroApp } from '../registry/index.ts'

/** The SQL of the decision on a consent form. The code and the grant that follow are in store.ts. */

export type ConsentDecision = 'approve' | 'refuse'

interface FirstDecision {
  readonly routingKey: number
  readonly formId: string
  readonly decision: ConsentDecision
  /** When the session that was shown the form has ended, and the decision may be deleted. */
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

export const findDecision = async (
  db: Db,
  routingKey: number,
  formId: string,
): Promise<ConsentDecision | undefined> => {
  const found = await db.maybe(
    z.object({ decision: z.enum(['approve', 'refuse']) }),
    sql`select decision from consent_decision where routing_key = ${routingKey} and form_id = ${formId}`,
  )
  return found?.decision
}

/** One consent that is remembered: of one person to one app. */
export interface ConsentKey extends UserRowKey {
  readonly appKey: string
}

/** When everything of the user or the app was revoked last: what was remembered until then no longer counts. */
const consentsRevokedAt = ({ routingKey, cid, userId, appKey }: ConsentKey) => sql.part`(
  select coalesce(greatest(p.valid_from, a.valid_from), '-infinity')
  from ${userByKey(sql.part`${routingKey}::int`, sql.part`${cid}::int`, sql.part`${userId}::text`)} p
  left join ${joinedMicroApp(sql.part`${appKey}::text`)})`

/** Adds the scopes that the user allows now to those that are remembered. */
export const rememberConsent = (
  db: Db,
  consent: ConsentKey & { readonly scopes: readonly string[] },
  now: Date,
): Promise<number> => {
  const { routingKey, cid, userId, appKey, scopes } = consent
  return db.exec(
    sql`insert into remembered_consent as known (routing_key, cid, user_id, app_key, scopes, allowed_at)
        values (${routingKey}, ${cid}, ${userId}, ${appKey}, ${scopes}, ${now})
        on conflict (routing_key, cid, user_id, app_key) do update
        set scopes = case when known.allowed_at > ${consentsRevokedAt(consent)}
              then array(select distinct s from unnest(known.scopes || excluded.scopes) as s) else excluded.scopes end,
            allowed_at = excluded.allowed_at`,
  )
}

export const forgetConsent = (db: Db, { routingKey, cid, userId, appKey }: ConsentKey): Promise<number> =>
  db.exec(
    sql`delete from remembered_consent
        where routing_key = ${routingKey} and cid = ${cid} and user_id = ${userId} and app_key = ${appKey}`,
  )

/** The scopes that this person need not be asked for. */
export const rememberedScopes = async (db: Db, consent: ConsentKey): Promise<readonly string[]> => {
  const { routingKey, cid, userId, appKey } = consent
  const known = await db.maybe(
    z.object({ scopes: z.array(z.string()) }),
    sql`select scopes from remembered_consent
        where routing_key = ${routingKey} and cid = ${cid} and user_id = ${userId} and app_key = ${appKey}
          and allowed_at > ${consentsRevokedAt(consent)}`,
  )
  return known?.scopes ?? []
}
