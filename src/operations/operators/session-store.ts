import { z } from 'zod'
import { type Db, sql } from '../../platform/db/sql.ts'
import type { Deps } from '../../platform/deps.ts'
import { addSeconds } from '../../platform/lib/clock.ts'
import { hmacSha256 } from '../../platform/lib/crypto/digest.ts'
import type { Keys } from '../../platform/lib/crypto/keys.ts'
import type { OpaqueToken } from '../../platform/lib/crypto/opaque-token.ts'
import { ADMIN_TOKEN_NAME, role } from './wire.ts'

/** Sessions of operators, and those opened with ADMIN_TOKEN. */

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

/** Sessions opened with ADMIN_TOKEN carry this mark of it, so that they end when it changes. */
export const markOf = ({ storage }: Keys, token: string): Buffer => hmacSha256(storage, `ADMIN_TOKEN\n${token}`)

/** What the conditions below compare sessions with; `mark`: null without ADMIN_TOKEN. */
export function sessionTerms({ clock, config, keys }: Pick<Deps, 'clock' | 'config' | 'keys'>) {
  const now = clock.now()
  const mark = config.ADMIN_TOKEN === undefined ? null : markOf(keys, config.ADMIN_TOKEN)
  return { now, seenSince: addSeconds(now, -config.OPERATOR_IDLE_S), mark }
}
type SessionTerms = ReturnType<typeof sessionTerms>

const inTime = ({ now, seenSince }: SessionTerms) => sql.part`expires_at > ${now} and last_seen_at > ${seenSince}`

/**
 * The live sessions of active operators whose password has not changed since. One that may only add an authenticator ends
 * once there is one: the password alone must not be enough to replace it.
 */
const liveSessions = (terms: SessionTerms) => sql.part`
  operator_session s join operator o on o.operator_id = s.operator_id and o.status = 'active'
    and o.credential_version = s.credential_version and (not s.pending or o.totp_confirmed_at is null)
  where ${inTime(terms)}`

const liveAdminTokenSessions = (terms: SessionTerms) =>
  sql.part`first_operator_session where token_mark = ${terms.mark} and ${inTime(terms)}`

export const findSession = (db: Db, hash: Buffer, terms: SessionTerms) =>
  db.maybe(
    session,
    sql`select o.name, o.role, s.pending, s.last_seen_at from ${liveSessions(terms)} and s.session_hash = ${hash}`,
  )

export const findAdminTokenSession = (db: Db, hash: Buffer, terms: SessionTerms) =>
  db.maybe(
    session,
    sql`select ${ADMIN_TOKEN_NAME}::text as name, 'admin' as role, false as pending, last_seen_at
        from ${liveAdminTokenSessions(terms)} and session_hash = ${hash}`,
  )

const tableOf = (name: string) =>
  name === ADMIN_TOKEN_NAME ? sql.part`first_operator_session` : sql.part`operator_session`

export const touchSession = (db: Db, name: string, hash: Buffer, now: Date): Promise<number> =>
  db.exec(sql`update ${tableOf(name)} set last_seen_at = ${now} where session_hash = ${hash}`)

export const deleteSession = (db: Db, name: string, hash: Buffer): Promise<number> =>
  db.exec(sql`delete from ${tableOf(name)} where session_hash = ${hash}`)
