import { z } from 'zod'
import { ofPerson, type UserRowKey } from '../../platform/db/personal-rows.ts'
import { type Db, sql } from '../../platform/db/sql.ts'

/** Stores a new authenticator, replacing an unconfirmed one. 0 if the person has a confirmed one. */
export const setTotp = (db: Db, key: UserRowKey, sealed: Buffer, now: Date): Promise<number> =>
  db.of(key.routingKey).exec(
    sql`insert into user_totp as known (routing_key, cid, user_id, sealed, created_at)
        values (${key.routingKey}, ${key.cid}, ${key.userId}, ${sealed}, ${now})
        on conflict (routing_key, cid, user_id) do update
        set sealed = excluded.sealed, created_at = excluded.created_at, last_step = 0
        where known.confirmed_at is null`,
  )

const totpRow = z.object({ sealed: z.instanceof(Buffer), confirmedAt: z.date().nullable() })
export type StoredTotp = z.output<typeof totpRow>

export const findTotp = (db: Db, key: UserRowKey) =>
  db
    .of(key.routingKey)
    .maybe(totpRow, sql`select sealed, confirmed_at as "confirmedAt" from user_totp where ${ofPerson(key)}`)

/** Marks the codes of this authenticator up to this step as used; 0 if they already were, or it was replaced. */
export const spendStep = (db: Db, key: UserRowKey, { sealed }: StoredTotp, step: number): Promise<number> =>
  db.of(key.routingKey).exec(
    sql`update user_totp set last_step = ${step}
        where ${ofPerson(key)} and sealed = ${sealed} and last_step < ${step} and confirmed_at is not null`,
  )

/** Confirms the authenticator with its first code; 0 also if it is already confirmed. */
export const confirmStep = (db: Db, key: UserRowKey, { sealed }: StoredTotp, step: number, now: Date) =>
  db.of(key.routingKey).exec(
    sql`update user_totp set last_step = ${step}, confirmed_at = ${now}
        where ${ofPerson(key)} and sealed = ${sealed} and last_step < ${step} and confirmed_at is null`,
  )

/** Upgrades a session that had only a password, after a code was typed in it. */
export const setSecondFactorOfSession = (db: Db, routingKey: number, sessionHash: Buffer, amr: readonly string[]) =>
  db.of(routingKey).exec(
    sql`update browser_session set amr = ${amr}::text[]
        where routing_key = ${routingKey} and session_hash = ${sessionHash} and amr is null`,
  )

export const deleteTotp = (db: Db, key: UserRowKey): Promise<number> =>
  db.of(key.routingKey).exec(sql`delete from user_totp where ${ofPerson(key)}`)

export async function replaceRecoveryCodes(db: Db, key: UserRowKey, hashes: readonly Buffer[], now: Date) {
  await deleteRecoveryCodes(db, key)
  await db.of(key.routingKey).exec(
    sql`insert into recovery_code (routing_key, cid, user_id, code_hash, created_at)
        select ${key.routingKey}::int, ${key.cid}::int, ${key.userId}::text, hash, ${now}::timestamptz
        from unnest(${hashes}::bytea[]) as hash`,
  )
}

export const deleteRecoveryCodes = (db: Db, key: UserRowKey): Promise<number> =>
  db.of(key.routingKey).exec(sql`delete from recovery_code where ${ofPerson(key)}`)

/** 1 for exactly one of concurrent callers. Codes are valid only with a confirmed authenticator. */
export const spendRecoveryCode = (db: Db, key: UserRowKey, hash: Buffer, now: Date): Promise<number> =>
  db.of(key.routingKey).exec(
    sql`update recovery_code set used_at = ${now}
        where ${ofPerson(key)} and code_hash = ${hash} and used_at is null
          and exists (select 1 from user_totp where ${ofPerson(key)} and confirmed_at is not null)`,
  )

/** When the authenticator was confirmed, and the number of unused recovery codes and of passkeys. */
export const findFactors = (db: Db, key: UserRowKey) =>
  db.of(key.routingKey).one(
    z.object({ totpSince: z.date().nullable(), recoveryCodes: z.number(), passkeys: z.number() }),
    sql`select (select confirmed_at from user_totp where ${ofPerson(key)}) as "totpSince",
          (select count(*)::int from recovery_code where ${ofPerson(key)} and used_at is null) as "recoveryCodes",
          (select count(*)::int from passkey where ${ofPerson(key)}) as passkeys`,
  )

const listed = z.object({
  passkeyId: z.string(),
  credentialId: z.instanceof(Buffer),
  transports: z.array(z.string()),
  name: z.string(),
  createdAt: z.date(),
  lastUsedAt: z.date().nullable(),
})

/** Oldest first. */
export const passkeysOf = (db: Db, key: UserRowKey) =>
  db.of(key.routingKey).listWithCustomPlan(
    listed,
    sql`select passkey_id as "passkeyId", credential_id as "credentialId", transports, name, created_at as "createdAt",
          last_used_at as "lastUsedAt"
        from passkey where ${ofPerson(key)} order by created_at, passkey_id`,
  )

type NewPasskey = Pick<z.output<typeof listed>, 'credentialId' | 'transports' | 'name'> &
  Pick<z.output<typeof storedPasskey>, 'publicKey' | 'counter'>

/** 0 if it is already registered. */
export const insertPasskey = (db: Db, key: UserRowKey, added: NewPasskey, now: Date): Promise<number> =>
  db.of(key.routingKey).exec(
    sql`insert into passkey (routing_key, credential_id, cid, user_id, public_key, counter, transports, name, created_at)
        values (${key.routingKey}, ${added.credentialId}, ${key.cid}, ${key.userId}, ${added.publicKey}, ${added.counter},
                ${added.transports}, ${added.name}, ${now})
        on conflict do nothing`,
  )

const storedPasskey = z.object({
  cid: z.number(),
  userId: z.string(),
  publicKey: z.instanceof(Buffer),
  counter: z.coerce.number(), // pg gives it as text
})

export const findPasskey = (db: Db, routingKey: number, credentialId: Buffer) =>
  db.of(routingKey).maybe(
    storedPasskey,
    sql`select cid, user_id as "userId", public_key as "publicKey", counter from passkey
        where routing_key = ${routingKey} and credential_id = ${credentialId}`,
  )

/** Stores the signature counter; 0 if it did not increase, which indicates a cloned key, or if the passkey is gone. */
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

/** 1 for exactly one of concurrent callers. */
export const spendChallenge = (db: Db, hash: Buffer, expiresAt: Date): Promise<number> =>
  db.exec(
    sql`insert into used_challenge (challenge_hash, expires_at) values (${hash}, ${expiresAt}) on conflict do nothing`,
  )
