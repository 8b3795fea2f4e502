import { z } from 'zod'
import { ofPerson, type UserRowKey } from '../../platform/db/personal-rows.ts'
import { type Db, sql } from '../../platform/db/sql.ts'
import { SHOWN_PASSPORT } from './store.ts'

/**
 * Ends the person's links that work, for good: their rows stay, so that the job that made one does not make it again.
 */
export const endLinks = (db: Db, key: UserRowKey, now: Date): Promise<number> =>
  db.of(key.routingKey).exec(sql`update password_link set used_at = ${now} where ${ofPerson(key)} and used_at is null`)

/** Keeps earlier links: whoever asks for another one does not take them away. 0 for a link that was made before. */
export const insertLink = (db: Db, key: UserRowKey, link: { hash: Buffer; expiresAt: Date }, now: Date) =>
  db.of(key.routingKey).exec(
    sql`insert into password_link (routing_key, link_hash, cid, user_id, created_at, expires_at)
        values (${key.routingKey}, ${link.hash}, ${key.cid}, ${key.userId}, ${now}, ${link.expiresAt})
        on conflict do nothing`,
  )

const linkRow = z.object({ cid: z.number(), userId: z.string(), usedAt: z.date().nullable(), passport: z.string() })
export type PasswordLink = z.output<typeof linkRow>

/** Undefined too where its person is gone. Two statements: the credential may lie on another shard. */
export async function findLink(db: Db, routingKey: number, hash: Buffer): Promise<PasswordLink | undefined> {
  const link = await db.of(routingKey).maybe(
    linkRow.omit({ passport: true }),
    sql`select cid, user_id as "userId", used_at as "usedAt" from password_link
        where routing_key = ${routingKey} and link_hash = ${hash}`,
  )
  if (!link) return undefined
  const passport = await passportOf(db, { routingKey, ...link })
  return passport === undefined ? undefined : { ...link, passport }
}

/** True for exactly one of any number of simultaneous callers. */
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

/** All of the person's but this one. */
export const deleteOtherSessions = (db: Db, key: UserRowKey, kept: Buffer | null): Promise<number> =>
  db.of(key.routingKey).exec(
    sql`delete from browser_session where ${ofPerson(key)}
          and session_hash is distinct from ${kept}::bytea`,
  )
