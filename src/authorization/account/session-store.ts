import { z } from 'zod'
import type { UserRowKey } from '../../platform/db/personal-rows.ts'
import { type Db, sql } from '../../platform/db/sql.ts'
import { lockedUserByKey, userByKey } from './store.ts'
import { keptUserAgent, type SignInOrigin, user } from './wire.ts'

/** The SQL of browser sessions, one at a time; session-list-store.ts has lists of them. */

interface NewSession {
  readonly sessionHash: Buffer
  readonly createdAt: Date
  readonly expiresAt: Date
  readonly from: SignInOrigin
  /** Null: with a password alone. */
  readonly amr: readonly string[] | null
  /** Undefined where the session begins here. */
  readonly upstream?:
    | {
        readonly authenticatedAt: Date | null
        readonly acr: string | null
        readonly idToken: Buffer
        /** Hashes of the provider's names. */
        readonly sub: Buffer
        readonly sid: Buffer | null
      }
    | undefined
}

/** 0 when the user was erased meanwhile. */
export const insertSession = (
  db: Db,
  key: UserRowKey,
  { sessionHash, createdAt, expiresAt, from, amr, upstream }: NewSession,
): Promise<number> =>
  db.of(key.routingKey).exec(sql`
    insert into browser_session (routing_key, session_hash, cid, user_id, created_at, expires_at, address, user_agent, amr,
                                 from_upstream, authenticated_at, acr, id_token, upstream_sub, upstream_sid)
    select ${key.routingKey}::int, ${sessionHash}::bytea, ${key.cid}::int, ${key.userId}::text, ${createdAt}::timestamptz,
           ${expiresAt}::timestamptz, ${from.address}::text, ${keptUserAgent(from)}::text, ${amr}::text[],
           ${upstream !== undefined}::boolean, ${upstream?.authenticatedAt ?? null}::timestamptz,
           ${upstream?.acr ?? null}::text, ${upstream?.idToken ?? null}::bytea,
           ${upstream?.sub ?? null}::bytea, ${upstream?.sid ?? null}::bytea
    from ${lockedUserByKey(sql.part`${key.routingKey}`, sql.part`${key.cid}`, sql.part`${key.userId}`)} locked`)

const sessionRow = z.object({
  cid: z.number(),
  userId: z.string(),
  name: z.string(),
  avatarUrl: z.string(),
  status: user.shape.status,
  signedInAt: z.date(),
  amr: z.array(z.string()).nullable(),
  fromUpstream: z.boolean(),
  authenticatedAt: z.date().nullable(),
  acr: z.string().nullable(),
  testOf: z.string().nullable(),
})

export const findSession = (db: Db, routingKey: number, sessionHash: Buffer, now: Date) =>
  db.of(routingKey).maybe(
    sessionRow,
    sql`
    select u.cid, u.user_id as "userId", u.name, u.big_avatar_url as "avatarUrl", u.status,
           u.test_of as "testOf", s.created_at as "signedInAt", s.amr, s.from_upstream as "fromUpstream",
           s.authenticated_at as "authenticatedAt", s.acr
    from (
      select cid, user_id, created_at, expires_at, amr, from_upstream, authenticated_at, acr from browser_session
      where routing_key = ${routingKey} and session_hash = ${sessionHash} offset 0
    ) s
    cross join ${userByKey(sql.part`${routingKey}`, sql.part`s.cid`, sql.part`s.user_id`)} u
    where s.expires_at > ${now} and (u.valid_from is null or s.created_at > u.valid_from)`,
  )

export const deleteSession = (db: Db, routingKey: number, sessionHash: Buffer) =>
  db
    .of(routingKey)
    .exec(sql`delete from browser_session where routing_key = ${routingKey} and session_hash = ${sessionHash}`)

/** Sealed; null in a session that began here, and for one that there is no more. */
export const idTokenOfSession = async (db: Db, routingKey: number, sessionHash: Buffer): Promise<Buffer | null> =>
  (await db.of(routingKey).maybeValue(
    z.instanceof(Buffer).nullable(),
    sql`select id_token as "idToken" from browser_session
          where routing_key = ${routingKey} and session_hash = ${sessionHash}`,
  )) ?? null
