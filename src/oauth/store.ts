import { z } from 'zod'
import type { UserRowKey } from '../db/personal-rows.ts'
import { type Db, sql } from '../db/sql.ts'

/** The SQL of A1. Statements about one user are led by the routing key, so each touches one shard. */

const Made = z.object({ created_at: z.date(), revoked_at: z.date().nullable() })

export interface NewGrant extends UserRowKey {
  readonly grantId: string
  readonly appKey: string
  readonly scopes: readonly string[]
  readonly signIn: SignInOfGrant | null
}

/** What an id_token says of the sign-in behind a grant. */
export interface SignInOfGrant {
  /** When the person last proved who they are. */
  readonly at: Date
  readonly nonce: string | null
  /** Names the browser session, without being its id. */
  readonly sid: string
}

/** Dates of the grant. When the same consent form is posted again they are those of the first time. */
export const ensureGrant = (db: Db, grant: NewGrant, now: Date): Promise<z.infer<typeof Made>> =>
  db.one(
    Made,
    sql`insert into user_grant
          (routing_key, grant_id, cid, user_id, app_key, scopes, created_at, auth_time, nonce, sid)
        values (${grant.routingKey}, ${grant.grantId}, ${grant.cid}, ${grant.userId}, ${grant.appKey}, ${grant.scopes}, ${now},
                ${grant.signIn?.at ?? null}, ${grant.signIn?.nonce ?? null}, ${grant.signIn?.sid ?? null})
        on conflict (routing_key, grant_id) do update set grant_id = excluded.grant_id
        returning created_at, revoked_at`,
  )

export interface NewCode {
  readonly routingKey: number
  readonly codeHash: Buffer
  readonly grantId: string
  readonly appKey: string
  readonly redirectUri: string
  readonly state: string
  readonly codeChallenge: string | null
  readonly expiresAt: Date
}

/** False when this very code exists and is not usable any more. */
export async function ensureCode(db: Db, code: NewCode, now: Date): Promise<boolean> {
  const usable = await db.maybe(
    z.object({ usable: z.boolean() }),
    sql`insert into authorization_code
          (routing_key, code_hash, grant_id, app_key, redirect_uri, state, code_challenge, expires_at)
        values (${code.routingKey}, ${code.codeHash}, ${code.grantId}, ${code.appKey}, ${code.redirectUri},
                ${code.state}, ${code.codeChallenge}, ${code.expiresAt})
        on conflict (routing_key, code_hash) do update set expires_at = excluded.expires_at
        returning used_at is null and expires_at > ${now} as usable`,
  )
  return usable?.usable ?? false
}

/** Which of these codes there is. */
export const findIssued = async (
  db: Db,
  routingKey: number,
  hashes: readonly Buffer[],
): Promise<Buffer | undefined> => {
  const found = await db.maybe(
    z.object({ code_hash: z.instanceof(Buffer) }),
    sql`select code_hash from authorization_code
        where routing_key = ${routingKey} and code_hash = any (${hashes}::bytea[])`,
  )
  return found?.code_hash
}

/** False when it was revoked already, or is another user's. */
export const revokeGrant = async (db: Db, routingKey: number, grantId: string, now: Date): Promise<boolean> =>
  (await db.exec(
    sql`update user_grant set revoked_at = ${now}
        where routing_key = ${routingKey} and grant_id = ${grantId} and revoked_at is null`,
  )) > 0
