import { z } from 'zod'
import type { UserRowKey } from '../../platform/db/personal-rows.ts'
import { type Db, sql } from '../../platform/db/sql.ts'
import { normalName } from '../../platform/lib/precis.ts'

const credentialRow = z.object({
  passwordHash: z.string(),
  routingKey: z.number(),
  cid: z.number(),
  userId: z.string(),
})
export type Credential = z.output<typeof credentialRow>

/** A passport as it is stored: to be found by its normal form, and to be shown. */
export interface StoredPassport {
  readonly passport: string
  /** As it was typed; null where that is the normal form. */
  readonly shown: string | null
}

export function storedPassport(typed: string): StoredPassport {
  const passport = normalName(typed)
  return { passport, shown: passport === typed ? null : typed }
}

/** The shown passport in a row of user_credential. */
export const SHOWN_PASSPORT = sql.part`coalesce(passport_shown, passport)`

export const findCredential = (db: Db, typed: string): Promise<Credential | undefined> =>
  db.maybe(
    credentialRow,
    sql`select password_hash as "passwordHash", routing_key as "routingKey", cid, user_id as "userId"
        from user_credential where passport = ${normalName(typed)}`,
  )

export const isPassportTaken = (db: Db, typed: string): Promise<boolean> =>
  db.value(
    z.boolean(),
    sql`select exists (select 1 from user_credential where passport = ${normalName(typed)}) as taken`,
  )

/** 0 when the passport exists already. */
export const insertCredential = (db: Db, key: UserRowKey, { passport, shown }: StoredPassport, passwordHash: string) =>
  db.exec(sql`
    insert into user_credential (passport, passport_shown, password_hash, routing_key, cid, user_id)
    values (${passport}, ${shown}, ${passwordHash}, ${key.routingKey}, ${key.cid}, ${key.userId})
    on conflict do nothing`)
