import { z } from 'zod'
import { type Db, sql } from '../../platform/db/sql.ts'

/** `mark`: of the ADMIN_TOKEN that opened it. */
interface AdminTokenSession {
  readonly hash: Buffer
  readonly mark: Buffer
}

export const insertAdminTokenSession = (
  db: Db,
  { hash, mark }: AdminTokenSession,
  now: Date,
  expiresAt: Date,
): Promise<number> =>
  db.exec(
    sql`insert into first_operator_session (session_hash, token_mark, created_at, last_seen_at, expires_at)
        values (${hash}, ${mark}, ${now}, ${now}, ${expiresAt})`,
  )

/** Undefined once it has ended, was idle since before `seenSince`, or the token is another one. */
export const findAdminTokenSession = (db: Db, { hash, mark }: AdminTokenSession, now: Date, seenSince: Date) =>
  db.maybe(
    z.object({ created_at: z.date(), last_seen_at: z.date() }),
    sql`select created_at, last_seen_at from first_operator_session
        where session_hash = ${hash} and token_mark = ${mark} and expires_at > ${now} and last_seen_at > ${seenSince}`,
  )

export const touchAdminTokenSession = (db: Db, hash: Buffer, now: Date): Promise<number> =>
  db.exec(sql`update first_operator_session set last_seen_at = ${now} where session_hash = ${hash}`)

export const deleteAdminTokenSession = (db: Db, hash: Buffer): Promise<number> =>
  db.exec(sql`delete from first_operator_session where session_hash = ${hash}`)
