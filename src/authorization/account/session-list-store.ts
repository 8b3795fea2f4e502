import { z } from 'zod'
import { cursorOf, type Page, pageOf, withCursor } from '../../platform/db/page.ts'
import { ofPerson, type UserRowKey } from '../../platform/db/personal-rows.ts'
import { type Db, sql } from '../../platform/db/sql.ts'
import { lockedUserByKey } from './store.ts'
import { keptUserAgent, type SignInOrigin } from './wire.ts'

/** More sessions than that are not listed; ending all others ends them too. */
const MOST = 200

const session = z.object({
  sessionHash: z.instanceof(Buffer),
  createdAt: z.date(),
  expiresAt: z.date(),
  address: z.string().nullable(),
  userAgent: z.string().nullable(),
})

/** Sessions that work, newest first. */
export const sessionsOfUser = (db: Db, key: UserRowKey, now: Date): Promise<z.output<typeof session>[]> =>
  db.of(key.routingKey).listWithCustomPlan(
    session,
    sql`select s.session_hash as "sessionHash", s.created_at as "createdAt", s.expires_at as "expiresAt", s.address,
               s.user_agent as "userAgent"
        from browser_session s
        join user_profile u on u.routing_key = s.routing_key and u.cid = s.cid and u.user_id = s.user_id
        where s.routing_key = ${key.routingKey} and s.cid = ${key.cid} and s.user_id = ${key.userId}
          and s.expires_at > ${now} and (u.valid_from is null or s.created_at > u.valid_from)
        order by s.created_at desc, s.session_hash limit ${MOST}`,
  )

const signIn = z.object({
  at: z.date(),
  outcome: z.enum(['succeeded', 'failed', 'locked', 'code_asked']),
  method: z.string(),
  address: z.string().nullable(),
  userAgent: z.string().nullable(),
})
export type SignIn = z.output<typeof signIn>

/** Its id; none for somebody who was erased meanwhile. */
export const insertSignIn = (
  db: Db,
  key: UserRowKey,
  made: Pick<SignIn, 'at' | 'outcome' | 'method'> & { readonly from: SignInOrigin },
): Promise<string | undefined> =>
  db.of(key.routingKey).maybeValue(
    z.string(),
    sql`insert into sign_in (routing_key, cid, user_id, at, outcome, method, address, user_agent)
        select ${key.routingKey}::int, ${key.cid}::int, ${key.userId}::text, ${made.at}::timestamptz, ${made.outcome}::text,
          ${made.method}::text, ${made.from.address}::text, ${keptUserAgent(made.from)}::text
        from ${lockedUserByKey(sql.part`${key.routingKey}`, sql.part`${key.cid}`, sql.part`${key.userId}`)} locked
        returning sign_in_id as "signInId"`,
  )

/** From where somebody signed in; undefined once it is not kept any more. */
export const originOfSignIn = (db: Db, key: UserRowKey, signInId: string) =>
  db.of(key.routingKey).maybe(
    signIn.pick({ address: true, userAgent: true }),
    sql`select address, user_agent as "userAgent" from sign_in where ${ofPerson(key)}
          and sign_in_id = ${signInId}`,
  )

interface SignInPage {
  readonly limit: number
  readonly after?: readonly [at: string, signInId: string] | undefined
}

/** Newest first. */
export async function signInsOfUser(db: Db, key: UserRowKey, { limit, after }: SignInPage): Promise<Page<SignIn>> {
  const [at, signInId] = after ?? []
  const found = await db.of(key.routingKey).listWithCustomPlan(
    withCursor(signIn),
    sql`select at, outcome, method, address, user_agent as "userAgent", ${cursorOf(sql.part`at, sign_in_id`)} from sign_in
        where ${ofPerson(key)}
          and (${at}::timestamptz is null or (at, sign_in_id) < (${at}::timestamptz, ${signInId}::uuid))
        order by at desc, sign_in_id desc limit ${limit + 1}`,
  )
  return pageOf(found, limit)
}
