import { z } from 'zod'
import { ofPerson, type UserRowKey } from '../../platform/db/personal-rows.ts'
import { type Db, sql } from '../../platform/db/sql.ts'

const listed = z.object({
  passkeyId: z.string(),
  credentialId: z.instanceof(Buffer),
  transports: z.array(z.string()),
  name: z.string(),
  createdAt: z.date(),
  lastUsedAt: z.date().nullable(),
})
export type ListedPasskey = z.output<typeof listed>

/** Oldest first. */
export const passkeysOf = (db: Db, key: UserRowKey): Promise<ListedPasskey[]> =>
  db.of(key.routingKey).listWithCustomPlan(
    listed,
    sql`select passkey_id as "passkeyId", credential_id as "credentialId", transports, name, created_at as "createdAt",
          last_used_at as "lastUsedAt"
        from passkey where ${ofPerson(key)} order by created_at, passkey_id`,
  )

export interface NewPasskey {
  readonly credentialId: Buffer
  readonly publicKey: Buffer
  readonly counter: number
  readonly transports: readonly string[]
  readonly name: string
}

/** 0 when it is registered already. */
export const insertPasskey = (db: Db, key: UserRowKey, made: NewPasskey, now: Date): Promise<number> =>
  db.of(key.routingKey).exec(
    sql`insert into passkey (routing_key, credential_id, cid, user_id, public_key, counter, transports, name, created_at)
        values (${key.routingKey}, ${made.credentialId}, ${key.cid}, ${key.userId}, ${made.publicKey}, ${made.counter},
                ${made.transports}, ${made.name}, ${now})
        on conflict do nothing`,
  )

const found = z.object({
  cid: z.number(),
  userId: z.string(),
  publicKey: z.instanceof(Buffer),
  counter: z.coerce.number(), // pg gives it as text
})
export type FoundPasskey = z.output<typeof found>

export const findPasskey = (db: Db, routingKey: number, credentialId: Buffer): Promise<FoundPasskey | undefined> =>
  db.of(routingKey).maybe(
    found,
    sql`select cid, user_id as "userId", public_key as "publicKey", counter from passkey
        where routing_key = ${routingKey} and credential_id = ${credentialId}`,
  )

/** Keeps the counter of a use; 0 where it is not above the last one, which tells a copied key, or the passkey is gone. */
export const countUse = (db: Db, routingKey: number, credentialId: Buffer, counter: number, now: Date) =>
  db.of(routingKey).exec(
    sql`update passkey set counter = ${counter}, last_used_at = ${now}
        where routing_key = ${routingKey} and credential_id = ${credentialId}
          and (counter < ${counter} or (counter = 0 and ${counter}::bigint = 0))`,
  )

export const renamePasskey = (db: Db, key: UserRowKey, passkeyId: string, name: string): Promise<number> =>
  db
    .of(key.routingKey)
    .exec(sql`update passkey set name = ${name} where ${ofPerson(key)} and passkey_id = ${passkeyId}`)

export const deletePasskey = (db: Db, key: UserRowKey, passkeyId: string): Promise<number> =>
  db.of(key.routingKey).exec(sql`delete from passkey where ${ofPerson(key)} and passkey_id = ${passkeyId}`)

export const deletePasskeys = (db: Db, key: UserRowKey): Promise<number> =>
  db.of(key.routingKey).exec(sql`delete from passkey where ${ofPerson(key)}`)

/** 1 for exactly one of any number of simultaneous callers. */
export const spendChallenge = (db: Db, hash: Buffer, expiresAt: Date): Promise<number> =>
  db.exec(
    sql`insert into used_challenge (challenge_hash, expires_at) values (${hash}, ${expiresAt}) on conflict do nothing`,
  )
