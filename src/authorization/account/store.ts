import { z } from 'zod'
import { ofPerson, type PersonalRows, type UserRowKey, userRowKey } from '../../platform/db/personal-rows.ts'
import { MARGIN_S, type Retention } from '../../platform/db/retention.ts'
import { type Db, type Fragment, sql } from '../../platform/db/sql.ts'
import { DAY_S } from '../../platform/lib/clock.ts'
import { normalName } from '../../platform/lib/precis.ts'
import { type User, user } from './wire.ts'

/** Ends the person's links. The rows stay, so that a retried job does not recreate its link. */
export const endLinks = (db: Db, key: UserRowKey, now: Date): Promise<number> =>
  db.of(key.routingKey).exec(sql`update password_link set used_at = ${now} where ${ofPerson(key)} and used_at is null`)

/** Keeps earlier links, so strangers cannot invalidate them by requesting another. 0 if this link exists already. */
export const insertLink = (db: Db, key: UserRowKey, link: { hash: Buffer; expiresAt: Date }, now: Date) =>
  db.of(key.routingKey).exec(
    sql`insert into password_link (routing_key, link_hash, cid, user_id, created_at, expires_at)
        values (${key.routingKey}, ${link.hash}, ${key.cid}, ${key.userId}, ${now}, ${link.expiresAt})
        on conflict do nothing`,
  )

const linkRow = userRowKey.extend({ usedAt: z.date().nullable() })

/** Undefined also if its person is gone. Two statements, since the credential may be on another shard. */
export async function findLink(db: Db, routingKey: number, hash: Buffer) {
  const link = await db.of(routingKey).maybe(
    linkRow,
    sql`select routing_key as "routingKey", cid, user_id as "userId", used_at as "usedAt" from password_link
        where routing_key = ${routingKey} and link_hash = ${hash}`,
  )
  const passport = link && (await passportOf(db, link))
  return link && passport !== undefined ? { ...link, passport } : undefined
}

/** True for exactly one of concurrent callers. */
export const spendLink = async (db: Db, routingKey: number, hash: Buffer, now: Date): Promise<boolean> =>
  (await db.of(routingKey).exec(
    sql`update password_link set used_at = ${now}
        where routing_key = ${routingKey} and link_hash = ${hash} and used_at is null`,
  )) === 1

export const setPassword = (db: Db, key: UserRowKey, passwordHash: string): Promise<number> =>
  db.exec(sql`update user_credential set password_hash = ${passwordHash} where ${ofPerson(key)}`)

export const passwordHashOf = (db: Db, key: UserRowKey): Promise<string | undefined> =>
  db.maybeValue(z.string(), sql`select password_hash from user_credential where ${ofPerson(key)}`)

export const passportOf = (db: Db, key: UserRowKey): Promise<string | undefined> =>
  db.maybeValue(z.string(), sql`select ${SHOWN_PASSPORT} as passport from user_credential where ${ofPerson(key)}`)

/** All of the person's sessions but `kept`. */
export const deleteOtherSessions = (db: Db, key: UserRowKey, kept: Buffer | null): Promise<number> =>
  db
    .of(key.routingKey)
    .exec(sql`delete from browser_session where ${ofPerson(key)} and session_hash is distinct from ${kept}::bytea`)

/** One user by primary key, to be joined in any statement; `offset 0` forces an index lookup, as in grantByKey. */
export const userByKey = (routingKey: Fragment, cid: Fragment, userId: Fragment): Fragment =>
  sql.part`lateral (select cid, user_id, name, gender, big_avatar_url, phone_number, status, created_at, updated_at,
              valid_from, test_of from user_profile
            where routing_key = ${routingKey} and cid = ${cid} and user_id = ${userId} offset 0)`

/** The same, locked against erasure until the end of the transaction. */
export const lockedUserByKey = (routingKey: Fragment, cid: Fragment, userId: Fragment): Fragment =>
  sql.part`lateral (select routing_key, cid, user_id from user_profile
            where routing_key = ${routingKey} and cid = ${cid} and user_id = ${userId} offset 0 for key share)`

/** 0 if (cid, user_id) already exists. */
export const insertProfile = (db: Db, key: UserRowKey, profile: Omit<User, 'cid' | 'user_id' | 'passport'>) =>
  db.of(key.routingKey).exec(sql`
    insert into user_profile
      (routing_key, cid, user_id, name, gender, big_avatar_url, phone_number, status, created_at)
    values (${key.routingKey}, ${key.cid}, ${key.userId}, ${profile.name}, ${profile.gender},
            ${profile.big_avatar_url}, ${profile.phone_number}, ${profile.status}, ${profile.created_at})
    on conflict do nothing`)

/** Locks the user. False if all sessions were ended since the sign-in; ending them waits for this lock. */
export const lockUserSignedInSince = async (db: Db, key: UserRowKey, signedInAt: Date): Promise<boolean> =>
  (await db.of(key.routingKey).exec(
    sql`select from user_profile
        where ${ofPerson(key)} and (valid_from is null or valid_from < ${signedInAt}) for share`,
  )) === 1

/** Number of valid sessions; undefined if there is no such user. */
export const countSessions = (db: Db, key: UserRowKey, now: Date): Promise<number | undefined> =>
  db.of(key.routingKey).maybeValue(
    z.number(),
    sql`select (select count(*)::int from browser_session s
                where s.routing_key = ${key.routingKey} and s.cid = u.cid and s.user_id = u.user_id
                  and s.expires_at > ${now} and (u.valid_from is null or s.created_at > u.valid_from)) as sessions
        from user_profile u where ${ofPerson(key, 'u')}`,
  )

/** Locks until the end of the transaction; false if there is no such user. */
export const lockUser = async (db: Db, key: UserRowKey): Promise<boolean> =>
  (await db.of(key.routingKey).exec(sql`select from user_profile where ${ofPerson(key)} for update`)) === 1

/** Never moves backwards: the process that set it may have had a clock that was ahead. */
export const setUserValidFrom = (db: Db, key: UserRowKey, at: Date): Promise<Date | undefined> =>
  db
    .of(key.routingKey)
    .maybeValue(
      z.date(),
      sql`update user_profile set valid_from = greatest(valid_from, ${at}) where ${ofPerson(key)} returning valid_from`,
    )

export const PROFILE = sql.part`cid, user_id, name, gender, big_avatar_url, phone_number, status, created_at`

export async function findUser(db: Db, key: UserRowKey): Promise<User | undefined> {
  const profile = await db
    .of(key.routingKey)
    .maybe(user.omit({ passport: true }), sql`select ${PROFILE} from user_profile where ${ofPerson(key)}`)
  return profile && withPassport(db, key, profile)
}

async function withPassport(db: Db, key: UserRowKey, profile: Omit<User, 'passport'>): Promise<User | undefined> {
  const passport = await passportOf(db, key)
  return passport === undefined ? undefined : { ...profile, passport }
}

export async function setStatus(db: Db, key: UserRowKey, status: User['status']): Promise<User | undefined> {
  const profile = await db
    .of(key.routingKey)
    .maybe(
      user.omit({ passport: true }),
      sql`update user_profile set status = ${status} where ${ofPerson(key)} returning ${PROFILE}`,
    )
  return profile && withPassport(db, key, profile)
}

const credentialRow = userRowKey.extend({ passwordHash: z.string() })
export type Credential = z.output<typeof credentialRow>

/** A passport as stored: found by its normal form; `shown` as typed, null if that is the normal form. */
export function storedPassport(typed: string) {
  const passport = normalName(typed)
  return { passport, shown: passport === typed ? null : typed }
}
type StoredPassport = ReturnType<typeof storedPassport>

export const SHOWN_PASSPORT = sql.part`coalesce(passport_shown, passport)`

export const findCredential = (db: Db, typed: string): Promise<Credential | undefined> =>
  db.maybe(
    credentialRow,
    sql`select password_hash as "passwordHash", routing_key as "routingKey", cid, user_id as "userId"
        from user_credential where passport = ${normalName(typed)}`,
  )

export const isPassportTaken = async (db: Db, typed: string) => (await findCredential(db, typed)) !== undefined

/** 0 if the passport already exists. */
export const insertCredential = (db: Db, key: UserRowKey, { passport, shown }: StoredPassport, passwordHash: string) =>
  db.exec(sql`
    insert into user_credential (passport, passport_shown, password_hash, routing_key, cid, user_id)
    values (${passport}, ${shown}, ${passwordHash}, ${key.routingKey}, ${key.cid}, ${key.userId})
    on conflict do nothing`)

/** How long rows of this room are kept, and which of them are personal data. */

const SIGN_IN_DAYS = 90

const UNTIL_EXPIRED = { column: 'expires_at', keptS: () => MARGIN_S } as const

export const ACCOUNT_RETENTION: readonly Retention[] = [
  { table: 'browser_session', key: ['routing_key', 'session_hash'], ...UNTIL_EXPIRED },
  { table: 'used_challenge', key: ['challenge_hash'], ...UNTIL_EXPIRED },
  { table: 'password_link', key: ['routing_key', 'link_hash'], ...UNTIL_EXPIRED },
  { table: 'contact_change', key: ['routing_key', 'cid', 'user_id', 'kind'], ...UNTIL_EXPIRED },
  {
    table: 'sign_in',
    key: ['routing_key', 'cid', 'user_id', 'at', 'sign_in_id'],
    column: 'at',
    keptS: () => SIGN_IN_DAYS * DAY_S,
  },
]

export const ACCOUNT_OF_PERSON: readonly PersonalRows[] = [
  {
    what: 'sessions',
    table: 'browser_session',
    key: { session_hash: 'bytea' },
    shown: ['created_at', 'expires_at', 'address', 'user_agent', 'amr', 'authenticated_at', 'acr'],
  },
  {
    what: 'sign_ins',
    table: 'sign_in',
    key: { at: 'timestamptz', sign_in_id: 'uuid' },
    shown: ['at', 'outcome', 'method', 'address', 'user_agent'],
  },
  {
    what: 'contact_changes',
    table: 'contact_change',
    key: { kind: 'text' },
    shown: ['kind', 'value', 'asked_at', 'expires_at'],
  },
  {
    what: 'passkeys',
    table: 'passkey',
    key: { credential_id: 'bytea' },
    shown: ['name', 'created_at', 'last_used_at'],
  },
  { what: 'pictures', table: 'profile_picture', key: {}, shown: ['made_at'] },
  { what: 'recovery_codes', table: 'recovery_code', key: { code_hash: 'bytea' }, shown: ['created_at', 'used_at'] },
  { what: 'authenticators', table: 'user_totp', key: {}, shown: ['created_at', 'confirmed_at'] },
  {
    what: 'password_links',
    table: 'password_link',
    key: { link_hash: 'bytea' },
    shown: ['created_at', 'expires_at', 'used_at'],
  },
  { what: 'credentials', table: 'user_credential', key: {}, shown: ['passport', 'passport_shown'] },
  {
    what: 'profile',
    table: 'user_profile',
    key: {},
    shown: [
      'cid',
      'user_id',
      'name',
      'gender',
      'big_avatar_url',
      'phone_number',
      'status',
      'created_at',
      'updated_at',
      'valid_from',
    ],
  },
]
