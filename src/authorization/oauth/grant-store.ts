import { z } from 'zod'
import type { Batched } from '../../platform/db/batch.ts'
import { cursorOf, type Page, pageOf, withCursor } from '../../platform/db/page.ts'
import type { UserRowKey } from '../../platform/db/personal-rows.ts'
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
export type Grant = z.infer<typeof Grant>

/**
 * One row by its primary key, for a statement of any room: `` cross join ${grantByKey(…)} g ``. `offset 0` keeps the
 * look-up separate. Joined, a plan made of a table with up to five rows reads all of it, and may stay in use while the
 * table grows.
 */
export const grantByKey = (routingKey: Fragment, grantId: Fragment): Fragment =>
  sql.part`lateral (select routing_key, cid, user_id, app_key, scopes, created_at, revoked_at from user_grant
            where routing_key = ${routingKey} and grant_id = ${grantId} offset 0)`

/**
 * When a grant `g` was revoked: by itself, or with everything of its user or its app (`valid_from` of both). Null while it
 * holds. Tokens and codes are over with their grant, so nothing of theirs has to be gone through.
 */
export const revokedAt = (ofUser: Fragment, ofApp: Fragment): Fragment =>
  sql.part`coalesce(g.revoked_at, case when g.created_at <= greatest(${ofUser}, ${ofApp}) then greatest(${ofUser}, ${ofApp}) end)`

/** The scopes of grant `g` that are also among these, in its order; mostly all of them. */
export const grantedAmong = (scopes: Fragment): Fragment =>
  sql.part`case when g.scopes <@ ${scopes} then g.scopes
    else array(select s from unnest(g.scopes) with ordinality as granted (s, n) where s = any (${scopes}) order by n) end`

/** Joins to `user_grant g` what may revoke it, for GRANT_REVOKED_AT. `routingKey`: of its user, as a parameter where it is known. */
export const grantRevocationJoins = (routingKey: Fragment): Fragment => sql.part`
  cross join ${userByKey(routingKey, sql.part`g.cid`, sql.part`g.user_id`)} p
  left join ${joinedMicroApp(sql.part`g.app_key`)}`
/** For grants of many users. */
export const GRANT_REVOCATION_JOINS = grantRevocationJoins(sql.part`g.routing_key`)
export const GRANT_REVOKED_AT = revokedAt(sql.part`p.valid_from`, sql.part`a.valid_from`)

/** Columns of `user_grant g`. */
const grantColumns = (routingKey: Fragment): Fragment => sql.part`grant_id, cid, user_id, app_key, scopes, created_at, (
    select ${GRANT_REVOKED_AT}
    from ${userByKey(routingKey, sql.part`g.cid`, sql.part`g.user_id`)} p
    left join ${joinedMicroApp(sql.part`g.app_key`)}) as revoked_at,
  ${cursorOf(sql.part`created_at, grant_id`)}`

/** Whose grants, and the last one seen. */
interface GrantPage {
  readonly limit: number
  readonly after?: readonly [createdAt: string, grantId: string] | undefined
}

/** Newest first. */
export async function grantsOfUser(
  db: Db,
  { routingKey, cid, userId }: UserRowKey,
  { limit, after }: GrantPage,
): Promise<Page<Grant>> {
  const [createdAt, grantId] = after ?? []
  const found = await db.listWithCustomPlan(
    withCursor(Grant),
    sql`select ${grantColumns(sql.part`${routingKey}::int`)} from user_grant g
        where routing_key = ${routingKey} and cid = ${cid} and user_id = ${userId}
          and (${createdAt}::timestamptz is null or (created_at, grant_id) < (${createdAt}::timestamptz, ${grantId}::uuid))
        order by created_at desc, grant_id desc limit ${limit + 1}`,
  )
  return pageOf(found, limit)
}

/** Newest first. */
export async function grantsOfApp(db: Db, appKey: string, { limit, after }: GrantPage): Promise<Page<Grant>> {
  const [createdAt, grantId] = after ?? []
  const found = await db.listWithCustomPlan(
    withCursor(Grant),
    sql`select ${grantColumns(sql.part`g.routing_key`)} from user_grant g
        where app_key = ${appKey}
          and (${createdAt}::timestamptz is null or (created_at, grant_id) < (${createdAt}::timestamptz, ${grantId}::uuid))
        order by created_at desc, grant_id desc limit ${limit + 1}`,
  )
  return pageOf(found, limit)
}

/** Whose grant it is, and the sign-in behind it: what an id_token says. */
export const SignInBehindGrant = z.object({
  cid: z.number(),
  user_id: z.string(),
  auth_time: z.date().nullable(),
  nonce: z.string().nullable(),
  sid: z.string().nullable(),
  acr: z.string().nullable(),
  amr: z.array(z.string()).nullable(),
})
export type SignInBehindGrant = z.infer<typeof SignInBehindGrant>

interface GrantKey {
  readonly routingKey: number
  readonly grantId: string
}

const ASKED = (one: GrantKey) => sql.part`${one.routingKey}::int as routing_key, ${one.grantId}::uuid as grant_id`

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
  (await db.batch(signIns, grant))[0]
