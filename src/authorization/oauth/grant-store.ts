import { z } from 'zod'
import type { Batched } from '../../platform/db/batch.ts'
import { type AskedPage, listPage, listPageOfShards } from '../../platform/db/page.ts'
import { ofPerson, type UserRowKey } from '../../platform/db/personal-rows.ts'
import { ofAllShards } from '../../platform/db/shards.ts'
import { type Db, type Fragment, sql } from '../../platform/db/sql.ts'
import { userByKey } from '../account/index.ts'
import { joinedMicroApp } from '../registry/index.ts'

const Grant = z.object({
  grant_id: z.string(),
  cid: z.number(),
  user_id: z.string(),
  app_key: z.string(),
  scopes: z.array(z.string()),
  created_at: z.date(),
  revoked_at: z.date().nullable(),
})

/**
 * One row by its primary key, for a statement of any room: `` cross join ${grantByKey(…)} g ``. `offset 0` keeps the planner
 * from merging the look-up into the join: planned while the table has up to five rows, a join reads the whole table, and the
 * plan may stay in use while the table grows.
 */
export const grantByKey = (routingKey: Fragment, grantId: Fragment): Fragment =>
  sql.part`lateral (select routing_key, cid, user_id, app_key, scopes, created_at, allowed_at, revoked_at from user_grant
            where routing_key = ${routingKey} and grant_id = ${grantId} offset 0)`

/**
 * When grant `g` was revoked: by itself, or with everything of its user or its app (`valid_from` of both). Null while it is
 * live. Tokens and codes end with their grant, so revoking touches none of their rows. A silent grant counts as old as the
 * consent that it rests on (`allowed_at`): it may have been created while everything was being revoked.
 */
export const revokedAt = (ofUser: Fragment, ofApp: Fragment): Fragment =>
  sql.part`coalesce(g.revoked_at,
    case when coalesce(g.allowed_at, g.created_at) <= greatest(${ofUser}, ${ofApp}) then greatest(${ofUser}, ${ofApp}) end)`

/** The scopes of grant `g` that are also among `scopes`, in the grant's order. Usually that is all of them. */
export const grantedAmong = (scopes: Fragment): Fragment =>
  sql.part`case when g.scopes <@ ${scopes} then g.scopes
    else array(select s from unnest(g.scopes) with ordinality as granted (s, n) where s = any (${scopes}) order by n) end`

/** Joins user `p` and app `a` to `user_grant g`, as revokedAt needs them. `routingKey`: a parameter where it is known. */
export const grantRevocationJoins = (routingKey: Fragment): Fragment => sql.part`
  cross join ${userByKey(routingKey, sql.part`g.cid`, sql.part`g.user_id`)} p
  left join ${joinedMicroApp(sql.part`g.app_key`)}`
export const GRANT_REVOKED_AT = revokedAt(sql.part`p.valid_from`, sql.part`a.valid_from`)

/** For `from`: the grants `g` of a person. */
const grantsOfPerson = (person: UserRowKey): Fragment => sql.part`
  user_grant g ${grantRevocationJoins(sql.part`${person.routingKey}::int`)} where ${ofPerson(person, 'g')}`
const liveGrantsOfPerson = (person: UserRowKey): Fragment =>
  sql.part`${grantsOfPerson(person)} and ${GRANT_REVOKED_AT} is null`

const grantColumns = (routingKey: Fragment): Fragment => sql.part`grant_id, cid, user_id, app_key, scopes, created_at, (
    select ${GRANT_REVOKED_AT}
    from ${userByKey(routingKey, sql.part`g.cid`, sql.part`g.user_id`)} p
    left join ${joinedMicroApp(sql.part`g.app_key`)}) as revoked_at`

const newestGrants = (which: Fragment, routingKey: Fragment) =>
  ({
    row: Grant,
    columns: grantColumns(routingKey),
    from: sql.part`user_grant g where ${which}`,
    keys: { created_at: 'timestamptz', grant_id: 'uuid' },
    newestFirst: true,
  }) as const

export const grantsOfUser = (db: Db, person: UserRowKey, page: AskedPage) =>
  listPage(db.of(person.routingKey), newestGrants(ofPerson(person), sql.part`${person.routingKey}::int`), page)

export const grantsOfApp = (db: Db, appKey: string, page: AskedPage) =>
  listPageOfShards(db, newestGrants(sql.part`app_key = ${appKey}`, sql.part`g.routing_key`), page)

/** What an id_token reports about the sign-in behind a grant. */
const SignInOfGrant = z.object({
  /** When the person last authenticated. */
  auth_time: z.date().nullable(),
  nonce: z.string().nullable(),
  /** Identifies the browser session without revealing its id. */
  sid: z.string().nullable(),
  /** Null if the request did not ask for it. */
  acr: z.string().nullable(),
  /** The factors (RFC 8176); null if it was only a password. */
  amr: z.array(z.string()).nullable(),
})
export type SignInOfGrant = z.infer<typeof SignInOfGrant>

/** The user of a grant and the sign-in behind it, for id_tokens. */
export const SignInBehindGrant = z.object({ cid: z.number(), user_id: z.string(), ...SignInOfGrant.shape })
export type SignInBehindGrant = z.infer<typeof SignInBehindGrant>

interface GrantKey {
  readonly routingKey: number
  readonly grantId: string
}

const ASKED = (key: GrantKey) => sql.part`${key.routingKey}::int as routing_key, ${key.grantId}::uuid as grant_id`

const signIns: Batched<GrantKey, SignInBehindGrant> = {
  row: SignInBehindGrant,
  key: ({ grantId }) => grantId,
  duplicates: 'share',
  statement: (asked) =>
    sql`select asked.ordinal, g.cid, g.user_id, g.auth_time, g.nonce, g.sid, g.acr, g.amr
        from ${sql.rows('asked', asked, ASKED)}
        cross join lateral (
          select cid, user_id, auth_time, nonce, sid, acr, amr from user_grant
          where routing_key = asked.routing_key and grant_id = asked.grant_id offset 0
        ) g`,
}

export const signInOfGrant = async (db: Db, grant: GrantKey): Promise<SignInBehindGrant | undefined> =>
  (await db.of(grant.routingKey).batch(signIns, grant))[0]

/** Which of a person's grants: a single one, or all to one app. */
export type WhichGrants = { readonly grantId: string } | { readonly appKey: string }

const ended = z.object({
  app_key: z.string(),
  /** False if it had ended before. */
  is_new: z.boolean(),
})
export type EndedGrant = z.output<typeof ended>

/** Ends grants, and with them their codes and tokens. `db` is a transaction that has locked the person. */
export function revokeGrants(db: Db, person: UserRowKey, which: WhichGrants, now: Date): Promise<EndedGrant[]> {
  const { routingKey } = person
  const chosen = 'appKey' in which ? sql.part`g.app_key = ${which.appKey}` : sql.part`g.grant_id = ${which.grantId}`
  return db.of(routingKey).listWithCustomPlan(
    ended,
    sql`with asked as (
          select g.grant_id, g.app_key, ${GRANT_REVOKED_AT} is null as is_new
          from ${grantsOfPerson(person)} and ${chosen}
        ), ended as (
          update user_grant g set revoked_at = ${now} from asked
          where g.routing_key = ${routingKey} and g.grant_id = asked.grant_id and g.revoked_at is null and asked.is_new
        )
        select app_key, is_new from asked`,
  )
}

/** Also deletes remembered consents, but not for a grant that had ended before: that consent may be a later one. */
export async function withdrawGrants(db: Db, person: UserRowKey, which: WhichGrants, now: Date): Promise<EndedGrant[]> {
  const found = await revokeGrants(db, person, which, now)
  const apps = 'appKey' in which ? [which.appKey] : found.filter(({ is_new }) => is_new).map(({ app_key }) => app_key)
  await db.of(person.routingKey).exec(
    sql`delete from remembered_consent
        where ${ofPerson(person)} and app_key = any (${apps}::text[])`,
  )
  return found
}

export const hasLiveGrant = async (db: Db, person: UserRowKey, appKey: string): Promise<boolean> =>
  (
    await db
      .of(person.routingKey)
      .listWithCustomPlan(
        z.object({}),
        sql`select from ${liveGrantsOfPerson(person)} and g.app_key = ${appKey} limit 1`,
      )
  ).length > 0

export const personOfGrant = (db: Db, routingKey: number, grantId: string): Promise<UserRowKey | undefined> =>
  db.of(routingKey).maybe(
    z.object({ routingKey: z.number(), cid: z.number(), userId: z.string() }),
    sql`select routing_key as "routingKey", cid, user_id as "userId" from user_grant
        where routing_key = ${routingKey} and grant_id = ${grantId}`,
  )

/** An app may have millions of grants, ended ones too: only the newest are looked at, as those of a person are. */
const MAX_READ = 10_000

const counted = z.object({ grants: z.number(), people: z.number() })
/** How many grants are live, and of how many people. */
export type LiveGrants = z.output<typeof counted>

export async function countGrantsOfApp(db: Db, appKey: string): Promise<LiveGrants> {
  const found = await ofAllShards(db, (shard) =>
    shard.listWithCustomPlan(
      counted,
      sql`select count(1)::int as grants, count(distinct (g.cid, g.user_id))::int as people
          from (select routing_key, cid, user_id, app_key, created_at, allowed_at, revoked_at from user_grant
                where app_key = ${appKey} order by created_at desc, grant_id desc limit ${MAX_READ}) g
          ${grantRevocationJoins(sql.part`g.routing_key`)}
          where ${GRANT_REVOKED_AT} is null`,
    ),
  )
  // Each person is in one shard.
  return found.reduce((sum, { grants, people }) => ({ grants: sum.grants + grants, people: sum.people + people }))
}

export const countGrantsOfUser = (db: Db, person: UserRowKey): Promise<LiveGrants> =>
  db.of(person.routingKey).one(
    counted,
    sql`select count(1)::int as grants, count(distinct (g.cid, g.user_id))::int as people
        from (select g.cid, g.user_id from ${liveGrantsOfPerson(person)} limit ${MAX_READ}) g`,
  )

const allowedApp = z.object({
  app_key: z.string(),
  /** Of the live grants; empty if there are none. */
  scopes: z
    .string()
    .nullable()
    .transform((words): readonly string[] => [...new Set(words?.split(' ') ?? [])]),
  /** When the oldest live grant was given; null if there is none. */
  since: z.date().nullable(),
  /** When a grant last ended. */
  withdrawn_at: z.date().nullable(),
})
export type AllowedApp = z.output<typeof allowedApp>

/** Every app that the person has ever allowed something, the most recent consent first. */
export const allowedAppsOf = (db: Db, person: UserRowKey): Promise<AllowedApp[]> =>
  db.of(person.routingKey).listWithCustomPlan(
    allowedApp,
    sql`select app_key, string_agg(array_to_string(scopes, ' '), ' ') filter (where revoked_at is null) as scopes,
          min(created_at) filter (where revoked_at is null) as since, max(revoked_at) as withdrawn_at
        from (select g.app_key, g.scopes, g.created_at, ${GRANT_REVOKED_AT} as revoked_at
              from ${grantsOfPerson(person)}
              order by g.created_at desc limit ${MAX_READ}) g
        group by app_key order by max(created_at) desc, app_key`,
  )

/** The grants of access and refresh tokens that have not expired or been rotated. */
const liveTokens = (now: Date) => sql.part`(
  select routing_key, grant_id from access_token where expires_at > ${now}
  union all
  select routing_key, grant_id from refresh_token where expires_at > ${now} and rotated_at is null)`

const ofUser = z.object({ tokens: z.number(), apps: z.number() })

/** Reads the user's grants by index, and all tokens of their routing key; with a general plan once for each grant. */
export async function countTokensOfUser(db: Db, person: UserRowKey, now: Date) {
  const [count] = await db.of(person.routingKey).listWithCustomPlan(
    ofUser,
    sql`with live as (
          select g.grant_id, g.app_key from ${liveGrantsOfPerson(person)}
        )
        select count(*)::int as tokens, count(distinct live.app_key)::int as apps
        from live join ${liveTokens(now)} t on t.routing_key = ${person.routingKey} and t.grant_id = live.grant_id`,
  )
  return count ?? { tokens: 0, apps: 0 }
}
