import { z } from 'zod'
import { type Db, sql } from '../../platform/db/sql.ts'
import type { Deps } from '../../platform/deps.ts'
import { addSeconds } from '../../platform/lib/clock.ts'
import { hmacSha256 } from '../../platform/lib/crypto/digest.ts'
import type { Keys } from '../../platform/lib/crypto/keys.ts'
import type { OpaqueToken } from '../../platform/lib/crypto/opaque-token.ts'
import type { Credential } from './store.ts'
import { ADMIN_TOKEN_NAME, role } from './wire.ts'

/** Sessions of operators, and those opened with ADMIN_TOKEN. */

/** An operator with this version of the password, or the holder of the ADMIN_TOKEN with this mark. */
export type SessionOwner = Pick<Credential, 'operator_id' | 'credential_version'> | { readonly token_mark: Buffer }

export const insertSession = (
  db: Db,
  { hash, expiresAt }: Pick<OpaqueToken, 'hash' | 'expiresAt'>,
  owner: SessionOwner,
  pending: boolean,
  now: Date,
): Promise<number> => {
  const { operator_id, credential_version, token_mark }: Partial<Credential & { token_mark: Buffer }> = owner
  return db.exec(
    sql`insert into operator_session (session_hash, operator_id, credential_version, token_mark, pending, created_at,
                                      last_seen_at, expires_at)
        values (${hash}, ${operator_id}, ${credential_version}, ${token_mark}, ${pending}, ${now}, ${now}, ${expiresAt})`,
  )
}

/** Sessions opened with ADMIN_TOKEN carry this mark of it, so that they end when it changes. */
export const markOf = ({ storage }: Keys, token: string): Buffer => hmacSha256(storage, `ADMIN_TOKEN\n${token}`)

/** What live sessions are compared with; `mark`: null without ADMIN_TOKEN. */
export function sessionTerms({ clock, config, keys }: Pick<Deps, 'clock' | 'config' | 'keys'>) {
  const now = clock.now()
  const mark = config.ADMIN_TOKEN === undefined ? null : markOf(keys, config.ADMIN_TOKEN)
  return { now, seenSince: addSeconds(now, -config.OPERATOR_IDLE_S), mark }
}
type SessionTerms = ReturnType<typeof sessionTerms>

/**
 * The sessions of active operators whose password has not changed since, and those of the present ADMIN_TOKEN. One that
 * may only add an authenticator ends once there is one: the password alone must not be enough to replace it.
 */
const liveSessions = ({ now, seenSince, mark }: SessionTerms) => sql.part`
  operator_session s left join operator o using (operator_id)
  where s.expires_at > ${now} and s.last_seen_at > ${seenSince} and case
    when s.operator_id is null then s.token_mark = ${mark}
    else o.status = 'active' and o.credential_version = s.credential_version
      and (not s.pending or o.totp_confirmed_at is null) end`

const session = z.object({ name: z.string(), role, pending: z.boolean(), last_seen_at: z.date() })

export const findSession = (db: Db, hash: Buffer, terms: SessionTerms) =>
  db.maybe(
    session,
    sql`select coalesce(o.name, ${ADMIN_TOKEN_NAME}::text) as name, coalesce(o.role, 'admin') as role, s.pending,
          s.last_seen_at
        from ${liveSessions(terms)} and s.session_hash = ${hash}`,
  )

export const touchSession = (db: Db, hash: Buffer, now: Date): Promise<number> =>
  db.exec(sql`update operator_session set last_seen_at = ${now} where session_hash = ${hash}`)

export const deleteSession = (db: Db, hash: Buffer): Promise<number> =>
  db.exec(sql`delete from operator_session where session_hash = ${hash}`)
