import { z } from 'zod'
import { type Db, sql } from '../db/sql.ts'
import { type User, user } from './wire.ts'

/** The primary key of a user; the routing key is derived from the other two. */
export interface Key {
  readonly routingKey: number
  readonly cid: number
  readonly userId: string
}

export const insertSession = (db: Db, key: Key, sessionHash: Buffer, createdAt: Date, expiresAt: Date) =>
  db.exec(sql`
    insert into browser_session (routing_key, session_hash, cid, user_id, created_at, expires_at)
    values (${key.routingKey}, ${sessionHash}, ${key.cid}, ${key.userId}, ${createdAt}, ${expiresAt})`)

const sessionRow = z.object({
  cid: z.number(),
  userId: z.string(),
  name: z.string(),
  avatarUrl: z.string(),
  status: user.shape.status,
})

export const findSession = (db: Db, routingKey: number, sessionHash: Buffer, now: Date) =>
  db.maybe(
    sessionRow,
    sql`
    select u.cid, u.user_id as "userId", u.name, u.big_avatar_url as "avatarUrl", u.status
    from browser_session s cross join user_by_key(s.routing_key, s.cid, s.user_id) u
    where s.routing_key = ${routingKey} and s.session_hash = ${sessionHash} and s.expires_at > ${now}`,
  )

export const deleteSession = (db: Db, routingKey: number, sessionHash: Buffer) =>
  db.exec(sql`delete from browser_session where routing_key = ${routingKey} and session_hash = ${sessionHash}`)

const credentialRow = z.object({ passwordHash: z.string(), cid: z.number(), userId: z.string() })

export const findCredential = (db: Db, passport: string) =>
  db.maybe(
    credentialRow,
    sql`
    select password_hash as "passwordHash", cid, user_id as "userId" from user_credential
    where passport = ${passport}`,
  )

export const isPassportTaken = (db: Db, passport: string) =>
  db.one(
    z.object({ taken: z.boolean() }),
    sql`select exists (select from user_credential where passport = ${passport}) as taken`,
  )

/** 0 when (cid, user_id) exists already. */
export const insertProfile = (db: Db, key: Key, profile: Omit<User, 'cid' | 'user_id' | 'passport'>) =>
  db.exec(sql`
    insert into user_profile
      (routing_key, cid, user_id, name, gender, big_avatar_url, phone_number, status, created_at)
    values (${key.routingKey}, ${key.cid}, ${key.userId}, ${profile.name}, ${profile.gender},
            ${profile.big_avatar_url}, ${profile.phone_number}, ${profile.status}, ${profile.created_at})
    on conflict do nothing`)

/** 0 when the passport exists already. */
export const insertCredential = (db: Db, key: Key, passport: string, passwordHash: string) =>
  db.exec(sql`
    insert into user_credential (passport, password_hash, routing_key, cid, user_id)
    values (${passport}, ${passwordHash}, ${key.routingKey}, ${key.cid}, ${key.userId})
    on conflict do nothing`)

export const listUsers = (db: Db): Promise<User[]> =>
  db.search(
    user,
    sql`
    select cid, user_id, passport, name, gender, big_avatar_url, phone_number, status, created_at
    from user_profile join user_credential using (routing_key, cid, user_id)
    order by created_at, cid, user_id`,
  )

export const setStatus = (db: Db, key: Key, status: User['status']): Promise<User | undefined> =>
  db.maybe(
    user,
    sql`
    update user_profile u set status = ${status} from user_credential c
    where u.routing_key = ${key.routingKey} and u.cid = ${key.cid} and u.user_id = ${key.userId}
      and c.routing_key = u.routing_key and c.cid = u.cid and c.user_id = u.user_id
    returning u.cid, u.user_id, c.passport, u.name, u.gender, u.big_avatar_url, u.phone_number, u.status, u.created_at`,
  )
