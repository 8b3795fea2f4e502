import { z } from 'zod'
import { type Db, sql } from '../../platform/db/sql.ts'
import type { OpaqueToken } from '../../platform/lib/crypto/opaque-token.ts'
import { ADMIN_TOKEN_NAME, role } from './wire.ts'

type NewSession = Pick<OpaqueToken, 'hash' | 'expiresAt'>

export interface SessionOwner {
  readonly operator_id: string
  readonly credential_version: number
}

export const insertSession = (
  db: Db,
  { hash, expiresAt }: NewSession,
  { operator_id, credential_version }: SessionOwner,
  pending: boolean,
  now: Date,
): Promise<number> =>
  db.exec(
    sql`insert into operator_session (session_hash, operator_id, credential_version, pending, created_at, last_seen_at,
                                      expires_at)
        values (${hash}, ${operator_id}, ${credential_version}, ${pending}, ${now}, ${now}, ${expiresAt})`,
  )

export const insertAdminTokenSession = (db: Db, { hash, expiresAt }: NewSession, mark: Buffer, now: Date) =>
  db.exec(
    sql`insert into first_operator_session (session_hash, token_mark, created_at, last_seen_at, expires_at)
        values (${hash}, ${mark}, ${now}, ${now}, ${expiresAt})`,
  )

const session = z.object({ name: z.string(), role, pending: z.boolean(), last_seen_at: z.date() })

/**
 * Finds the session of an active operator whose password has not changed since. A session that may only add an
 * authenticator ends once there is one: the password alone must not be enough to replace it.
 */
export const findSession = (db: Db, hash: Buffer, now: Date, seenSince: Date) =>
  db.maybe(
    session,
    sql`select o.name, o.role, s.pending, s.last_seen_at
        from operator_session s join operator o on o.operator_id = s.operator_id
        where s.session_hash = ${hash} and s.expires_at > ${now} and s.last_seen_at > ${seenSince}
          and o.status = 'active' and o.credential_version = s.credential_version
          and (not s.pending or o.totp_confirmed_at is null)`,
  )

/** `mark` is a MAC of the present ADMIN_TOKEN, null without one. */
export const findAdminTokenSession = (db: Db, hash: Buffer, mark: Buffer | null, now: Date, seenSince: Date) =>
  db.maybe(
    session,
    sql`select ${ADMIN_TOKEN_NAME}::text as name, 'admin' as role, false as pending, last_seen_at
        from first_operator_session
        where session_hash = ${hash} and token_mark = ${mark} and expires_at > ${now} and last_seen_at > ${seenSince}`,
  )

const tableOf = (name: string) =>
  name === ADMIN_TOKEN_NAME ? sql.part`first_operator_session` : sql.part`operator_session`

export const touchSession = (db: Db, name: string, hash: Buffer, now: Date): Promise<number> =>
  db.exec(sql`update ${tableOf(name)} set last_seen_at = ${now} where session_hash = ${hash}`)

export const deleteSession = (db: Db, name: string, hash: Buffer): Promise<number> =>
  db.exec(sql`delete from ${tableOf(name)} where session_hash = ${hash}`)
