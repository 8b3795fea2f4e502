/** SQL of browser sessions, the sign-in history, and profiles kept up to date by the OpenID provider. */

import { z } from 'zod'
import { type AskedPage, listPage, momentKey } from '../../platform/db/page.ts'
import { ofPerson, type UserRowKey, userRowKey } from '../../platform/db/personal-rows.ts'
import { ofAllShards } from '../../platform/db/shards.ts'
import { type Db, type Fragment, sql } from '../../platform/db/sql.ts'
import type { EndedThere, UpstreamPerson } from '../upstream/index.ts'
import { lockedUserByKey, userByKey } from './store.ts'
import { keptUserAgent, type SignInOrigin, user } from './wire.ts'

/** Claims of the provider replace stored values; absent claims leave them as they are. */
export const updateProfileFromProvider = (db: Db, key: UserRowKey, claims: UpstreamPerson['profile'], now: Date) =>
  db.of(key.routingKey).exec(
    sql`update user_profile u
        set name = coalesce(c.name, u.name), gender = coalesce(c.gender, u.gender),
            big_avatar_url = coalesce(c.avatar, u.big_avatar_url),
            phone_number = coalesce(c.phone, u.phone_number), updated_at = ${now}
        from (values (${claims.name ?? null}::text, ${claims.gender ?? null}::text,
                      ${claims.big_avatar_url ?? null}::text, ${claims.phone_number ?? null}::text))
          as c (name, gender, avatar, phone)
        where ${ofPerson(key, 'u')}
          and (u.name, u.gender, u.big_avatar_url, coalesce(u.phone_number, ''))
              is distinct from (coalesce(c.name, u.name), coalesce(c.gender, u.gender),
                coalesce(c.avatar, u.big_avatar_url), coalesce(c.phone, u.phone_number, ''))`,
  )

/** Hashes from a logout token of the provider, which has one at least. A session must match each. */
type UpstreamEnd = Pick<EndedThere, 'sub' | 'sid'>

const matching = ({ sub, sid }: UpstreamEnd): Fragment => {
  const bySub = sub && sql.part`upstream_sub = ${sub}`
  const bySid = sid && sql.part`upstream_sid = ${sid}`
  return (bySub && bySid ? sql.part`${bySub} and ${bySid}` : (bySub ?? bySid)) ?? sql.part`false`
}

/** Whose sessions these are, in the order of their keys: each is then locked. */
export const ownersOfUpstreamSessions = (db: Db, end: UpstreamEnd): Promise<UserRowKey[]> =>
  ofAllShards(db, (shard) =>
    shard.many(
      userRowKey,
      sql`select distinct routing_key as "routingKey", cid, user_id as "userId" from browser_session
          where ${matching(end)} order by 1, 2, 3`,
    ),
  )

export const deleteUpstreamSessions = (db: Db, person: UserRowKey, end: UpstreamEnd): Promise<number> =>
  db.of(person.routingKey).exec(sql`delete from browser_session where ${ofPerson(person)} and ${matching(end)}`)

interface NewSession {
  readonly sessionHash: Buffer
  readonly createdAt: Date
  readonly expiresAt: Date
  readonly from: SignInOrigin
  /** Null for a password alone. */
  readonly amr: readonly string[] | null
  /** With hashes of the provider's `sub` and `sid`; undefined if the person signed in here. */
  readonly upstream:
    | (Pick<SessionRow, 'authenticatedAt' | 'acr'> & { idToken: Buffer; sub: Buffer; sid: Buffer | null })
    | undefined
}

/** 0 if the user was erased meanwhile. */
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
type SessionRow = z.output<typeof sessionRow>

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

/** Locks the user, then the session, until the end of the transaction. False if the session has ended. */
export const lockSession = async (
  db: Db,
  { sessionHash, ...key }: UserRowKey & { readonly sessionHash: Buffer },
  now: Date,
): Promise<boolean> =>
  (await db.of(key.routingKey).exec(
    sql`select from (
          select cid, user_id, valid_from from user_profile where ${ofPerson(key)} offset 0 for update
        ) u
        cross join lateral (
          select created_at, expires_at from browser_session
          where routing_key = ${key.routingKey} and session_hash = ${sessionHash} and (cid, user_id) = (u.cid, u.user_id)
          offset 0 for update
        ) s
        where s.expires_at > ${now} and (u.valid_from is null or s.created_at > u.valid_from)`,
  )) === 1

export const deleteSession = (db: Db, routingKey: number, sessionHash: Buffer) =>
  db
    .of(routingKey)
    .exec(sql`delete from browser_session where routing_key = ${routingKey} and session_hash = ${sessionHash}`)

/** Sealed. Null for sessions that began here, or have ended. */
export const idTokenOfSession = async (db: Db, routingKey: number, sessionHash: Buffer): Promise<Buffer | null> =>
  (await db.of(routingKey).maybeValue(
    z.instanceof(Buffer).nullable(),
    sql`select id_token from browser_session
          where routing_key = ${routingKey} and session_hash = ${sessionHash}`,
  )) ?? null

/** Sessions beyond this are not listed, but ending all others ends them too. */
const MAX_LISTED = 200

const session = z.object({
  sessionHash: z.instanceof(Buffer),
  createdAt: z.date(),
  expiresAt: z.date(),
  address: z.string().nullable(),
  userAgent: z.string().nullable(),
})

/** Valid sessions, newest first. */
export const sessionsOfUser = (db: Db, key: UserRowKey, now: Date) =>
  db.of(key.routingKey).listWithCustomPlan(
    session,
    sql`select s.session_hash as "sessionHash", s.created_at as "createdAt", s.expires_at as "expiresAt", s.address,
               s.user_agent as "userAgent"
        from browser_session s
        join user_profile u on u.routing_key = s.routing_key and u.cid = s.cid and u.user_id = s.user_id
        where ${ofPerson(key, 's')} and s.expires_at > ${now} and (u.valid_from is null or s.created_at > u.valid_from)
        order by s.created_at desc, s.session_hash limit ${MAX_LISTED}`,
  )

const signIn = z.object({
  at: z.date(),
  outcome: z.enum(['succeeded', 'failed', 'locked', 'code_asked']),
  method: z.string(),
  address: z.string().nullable(),
  userAgent: z.string().nullable(),
})
export type SignIn = z.output<typeof signIn>

/** Returns its id; undefined if the user was erased meanwhile. */
export const insertSignIn = (
  db: Db,
  key: UserRowKey,
  entry: Pick<SignIn, 'at' | 'outcome' | 'method'> & { readonly from: SignInOrigin },
): Promise<string | undefined> =>
  db.of(key.routingKey).maybeValue(
    z.string(),
    sql`insert into sign_in (routing_key, cid, user_id, at, outcome, method, address, user_agent)
        select ${key.routingKey}::int, ${key.cid}::int, ${key.userId}::text, ${entry.at}::timestamptz, ${entry.outcome}::text,
          ${entry.method}::text, ${entry.from.address}::text, ${keptUserAgent(entry.from)}::text
        from ${lockedUserByKey(sql.part`${key.routingKey}`, sql.part`${key.cid}`, sql.part`${key.userId}`)} locked
        returning sign_in_id`,
  )

/** Where a sign-in came from; undefined once it was purged. */
export const originOfSignIn = (db: Db, key: UserRowKey, signInId: string) =>
  db
    .of(key.routingKey)
    .maybe(
      signIn.pick({ address: true, userAgent: true }),
      sql`select address, user_agent as "userAgent" from sign_in where ${ofPerson(key)} and sign_in_id = ${signInId}`,
    )

export const signInOrder = z.tuple([momentKey, z.uuid()])

/** Newest first. */
export const signInsOfUser = (db: Db, key: UserRowKey, page: AskedPage) => {
  const listing = {
    row: signIn,
    columns: sql.part`at, outcome, method, address, user_agent as "userAgent"`,
    from: sql.part`sign_in where ${ofPerson(key)}`,
    keys: { at: 'timestamptz', sign_in_id: 'uuid' },
    newestFirst: true,
  } as const
  return listPage(db.of(key.routingKey), listing, page)
}
