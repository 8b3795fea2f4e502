/** The SQL of the sandbox's sessions and of withdrawn links. */

import { z } from 'zod'
import { MARGIN_S, type Retention } from '../../platform/db/retention.ts'
import { type Db, sql } from '../../platform/db/sql.ts'
import { memberRole } from '../../platform/lib/member.ts'

/** Sessions carry their own `expires_at`. */
export const SANDBOX_RETENTION: readonly Retention[] = [
  { table: 'sandbox_session', key: ['session_hash'], column: 'expires_at', keptS: () => MARGIN_S },
]

/** A member, or somebody with the clientSecret. */
export interface SessionOf {
  readonly secretId?: string
  readonly memberId?: string
  /** Version of the member's password: sessions end when it changes. */
  readonly version?: number
}

export interface NewSession {
  readonly sessionHash: Buffer
  readonly partnerId: bigint
  readonly of: SessionOf
  readonly expiresAt: Date
}

export const insertSession = (db: Db, { sessionHash, partnerId, of, expiresAt }: NewSession, now: Date) =>
  db.exec(
    sql`insert into sandbox_session
      (session_hash, partner_id, secret_id, member_id, credential_version, created_at, expires_at)
    values (${sessionHash}, ${partnerId}, ${of.secretId}, ${of.memberId}, ${of.version}, ${now}, ${expiresAt})`,
  )

const sessionRow = z.object({
  partnerId: z.coerce.bigint(),
  clientId: z.string(),
  name: z.string(),
  /** Null if signed in with the clientSecret. */
  memberId: z.string().nullable(),
  mail: z.string().nullable(),
  /** The clientSecret acts as owner until a member has joined. */
  role: memberRole,
})
export type SessionRow = z.output<typeof sessionRow>

/** Only for an active partner, and while the session's secret is live or the member's password unchanged. */
export const findSession = (db: Db, sessionHash: Buffer, now: Date) =>
  db.maybe(
    sessionRow,
    sql`select partner_id as "partnerId", client_id as "clientId", name, member_id as "memberId", member_mail as mail,
      coalesce(member_role, 'owner') as role
    from sandbox_signed_in
    where session_hash = ${sessionHash} and expires_at > ${now}
      and (secret_ends_at is null or secret_ends_at > ${now})`,
  )

export const deleteSession = (db: Db, sessionHash: Buffer): Promise<number> =>
  db.exec(sql`delete from sandbox_session where session_hash = ${sessionHash}`)

/** How often a run's links were withdrawn. */
export const timesWithdrawn = async (db: Db, runId: string): Promise<number> =>
  (await db.maybeValue(z.number(), sql`select times from sandbox_withdrawn_link where run_id = ${runId}`)) ?? 0

export const withdrawOnce = (db: Db, runId: string): Promise<number> =>
  db.exec(
    sql`insert into sandbox_withdrawn_link as known (run_id, times) values (${runId}, 1)
        on conflict (run_id) do update set times = known.times + 1`,
  )
