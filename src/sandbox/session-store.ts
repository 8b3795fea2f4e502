import { z } from 'zod'
import { MARGIN_S, type Retention } from '../db/retention.ts'
import { type Db, sql } from '../db/sql.ts'

/** A session says itself when it ends. */
export const SANDBOX_RETENTION: readonly Retention[] = [
  { table: 'sandbox_session', column: 'expires_at', keptS: () => MARGIN_S },
]

export interface NewSession {
  readonly sessionHash: Buffer
  readonly partnerId: bigint
  readonly secretId: string
  readonly expiresAt: Date
}

export const insertSession = (db: Db, { sessionHash, partnerId, secretId, expiresAt }: NewSession, now: Date) =>
  db.exec(
    sql`insert into sandbox_session (session_hash, partner_id, secret_id, created_at, expires_at)
    values (${sessionHash}, ${partnerId}, ${secretId}, ${now}, ${expiresAt})`,
  )

const sessionRow = z.object({ partnerId: z.coerce.bigint(), clientId: z.string(), name: z.string() })

/** Of a partner that is active, opened with a secret that is live. */
export const findSession = (db: Db, sessionHash: Buffer, now: Date) =>
  db.maybe(
    sessionRow,
    sql`select partner_id as "partnerId", client_id as "clientId", name from sandbox_signed_in
    where session_hash = ${sessionHash} and expires_at > ${now}
      and (secret_ends_at is null or secret_ends_at > ${now})`,
  )

export const deleteSession = (db: Db, sessionHash: Buffer): Promise<number> =>
  db.exec(sql`delete from sandbox_session where session_hash = ${sessionHash}`)
