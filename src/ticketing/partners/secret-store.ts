import { z } from 'zod'
import { type Db, sql } from '../../platform/db/sql.ts'

export interface NewPartnerSecret {
  readonly secret_id: string
  readonly sealed: Buffer
  readonly signs: boolean
  /** How long the previous secret still works once this one signs. */
  readonly overlap_s: number
}

export const insertSecret = (db: Db, partnerId: bigint, secret: NewPartnerSecret, now: Date): Promise<number> =>
  db.exec(
    sql`insert into partner_secret (secret_id, partner_id, sealed, signs, overlap_s, created_at)
    values (${secret.secret_id}, ${partnerId}, ${secret.sealed}, ${secret.signs}, ${secret.overlap_s}, ${now})`,
  )

/** Keeps the signing secret, so that with a new one at most two are live. */
export const deleteOthers = (db: Db, partnerId: bigint): Promise<number> =>
  db.exec(sql`delete from partner_secret where partner_id = ${partnerId} and not signs`)

/** The overlap of a secret that waits to sign; undefined if it signs already, has an end, or is gone. */
export const findOverlap = (db: Db, partnerId: bigint, secretId: string): Promise<number | undefined> =>
  db.maybeValue(
    z.number(),
    sql`select overlap_s from partner_secret
    where partner_id = ${partnerId} and secret_id = ${secretId} and not signs and ends_at is null`,
  )

/** Ends the signing secret, and makes this one sign: two statements, as at most one may sign at any moment. */
export async function moveSigning(db: Db, partnerId: bigint, secretId: string, oldEndsAt: Date): Promise<void> {
  await db.exec(
    sql`update partner_secret set signs = false, ends_at = ${oldEndsAt} where partner_id = ${partnerId} and signs`,
  )
  await db.exec(sql`update partner_secret set signs = true where partner_id = ${partnerId} and secret_id = ${secretId}`)
}

export const endSecret = (db: Db, partnerId: bigint, secretId: string, now: Date): Promise<number> =>
  db.exec(
    sql`update partner_secret set ends_at = ${now}
    where partner_id = ${partnerId} and secret_id = ${secretId} and not signs`,
  )

export const touchSecret = (db: Db, secretId: string, now: Date, notAfter: Date): Promise<number> =>
  db.exec(
    sql`update partner_secret set last_used_at = ${now}
    where secret_id = ${secretId} and (last_used_at is null or last_used_at <= ${notAfter})`,
  )
