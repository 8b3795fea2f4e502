import { z } from 'zod'
import { type Db, sql } from '../db/sql.ts'

const status = z.enum(['active', 'blocked'])

const sessionRow = z.object({
  cid: z.number(),
  userId: z.string(),
  name: z.string(),
  avatarUrl: z.string(),
  status,
})

export interface NewSession {
  readonly routingKey: number
  readonly sessionHash: Buffer
  readonly cid: number
  readonly userId: string
  readonly now: Date
  readonly expiresAt: Date
}

export const insertSession = (db: Db, session: NewSession): Promise<number> =>
  db.exec(sql`
    insert into browser_session (routing_key, session_hash, cid, user_id, created_at, expires_at)
    values (${session.routingKey}, ${session.sessionHash}, ${session.cid}, ${session.userId},
            ${session.now}, ${session.expiresAt})`)

export const findSession = (db: Db, key: { routingKey: number; sessionHash: Buffer; now: Date }) =>
  db.maybe(
    sessionRow,
    sql`
    select u.cid, u.user_id as "userId", u.name, u.big_avatar_url as "avatarUrl", u.status
    from browser_session s
    join user_profile u using (routing_key, cid, user_id)
    where s.routing_key = ${key.routingKey} and s.session_hash = ${key.sessionHash} and s.expires_at > ${key.now}`,
  )

export const deleteSession = (db: Db, routingKey: number, sessionHash: Buffer): Promise<number> =>
  db.exec(sql`delete from browser_session where routing_key = ${routingKey} and session_hash = ${sessionHash}`)
