import { z } from 'zod'
import { type Db, sql } from '../../platform/db/sql.ts'
import { role } from './wire.ts'

interface NewSession {
  readonly hash: Buffer
  readonly operator_id: string
  readonly credential_version: number
  readonly pending: boolean
  readonly expires_at: Date
}

export const insertSession = (db: Db, made: NewSession, now: Date): Promise<number> =>
  db.exec(
    sql`insert into operator_session (session_hash, operator_id, credential_version, pending, created_at, last_seen_at,
                                      expires_at)
        values (${made.hash}, ${made.operator_id}, ${made.credential_version}, ${made.pending}, ${now}, ${now},
                ${made.expires_at})`,
  )

const session = z.object({
  operator_id: z.string(),
  name: z.string(),
  role,
  pending: z.boolean(),
  created_at: z.date(),
  last_seen_at: z.date(),
  credential_version: z.number(),
})
export type FoundSession = z.output<typeof session>

/**
 * Finds the session of an active operator whose password has not changed since. A session that may only add an
 * authenticator ends once there is one: the password alone must not be enough to replace it.
 */
export const findSession = (db: Db, hash: Buffer, now: Date, seenSince: Date): Promise<FoundSession | undefined> =>
  db.maybe(
    session,
    sql`select o.operator_id, o.name, o.role, s.pending, s.created_at, s.last_seen_at, o.credential_version
        from operator_session s join operator o on o.operator_id = s.operator_id
        where s.session_hash = ${hash} and s.expires_at > ${now} and s.last_seen_at > ${seenSince}
          and o.status = 'active' and o.credential_version = s.credential_version
          and (not s.pending or o.totp_confirmed_at is null)`,
  )

const TABLES = { operator: sql.part`operator_session`, adminToken: sql.part`first_operator_session` } as const

export const touchSession = (db: Db, of: keyof typeof TABLES, hash: Buffer, now: Date): Promise<number> =>
  db.exec(sql`update ${TABLES[of]} set last_seen_at = ${now} where session_hash = ${hash}`)

export const deleteSession = (db: Db, of: keyof typeof TABLES, hash: Buffer): Promise<number> =>
  db.exec(sql`delete from ${TABLES[of]} where session_hash = ${hash}`)

/** `mark` is a MAC of the ADMIN_TOKEN that opened the session. */
interface AdminTokenSession {
  readonly hash: Buffer
  readonly mark: Buffer
}

export const insertAdminTokenSession = (db: Db, { hash, mark }: AdminTokenSession, now: Date, expiresAt: Date) =>
  db.exec(
    sql`insert into first_operator_session (session_hash, token_mark, created_at, last_seen_at, expires_at)
        values (${hash}, ${mark}, ${now}, ${now}, ${expiresAt})`,
  )

/** Undefined if the session has expired or was not used since `seenSince`, or if ADMIN_TOKEN has changed. */
export const findAdminTokenSession = (db: Db, { hash, mark }: AdminTokenSession, now: Date, seenSince: Date) =>
  db.maybe(
    z.object({ created_at: z.date(), last_seen_at: z.date() }),
    sql`select created_at, last_seen_at from first_operator_session
        where session_hash = ${hash} and token_mark = ${mark} and expires_at > ${now} and last_seen_at > ${seenSince}`,
  )
