import { z } from 'zod'
import { cursorOf, type Page, pageOf, withCursor } from '../../platform/db/page.ts'
import { type Db, sql } from '../../platform/db/sql.ts'
import type { Role } from '../../platform/lib/web/admin-auth.ts'
import { type OperatorFilter, type OperatorRow, operatorRow } from './wire.ts'

/** Operators; their names are case-insensitive. Tokens and sessions are in token-store.ts and session-store.ts. */

/** Returns 0 if the name is taken. */
export const insertOperator = (
  db: Db,
  made: { readonly operator_id: string; readonly name: string; readonly role: Role },
  now: Date,
): Promise<number> =>
  db.exec(
    sql`insert into operator (operator_id, name, role, status, created_at)
        values (${made.operator_id}, ${made.name}, ${made.role}, 'active', ${now}) on conflict do nothing`,
  )

const OPERATOR = sql.part`operator_id, name, role, status, created_at, password_hash is not null as has_password,
  totp_confirmed_at is not null as has_totp,
  (select count(*)::int from operator_recovery_code c
   where c.operator_id = operator.operator_id and c.used_at is null) as recovery_codes`

/** Oldest first. */
export async function listOperators(db: Db, { limit, after }: OperatorFilter): Promise<Page<OperatorRow>> {
  const [createdAt, name] = after ?? []
  const rows = await db.listWithCustomPlan(
    withCursor(operatorRow),
    sql`select ${OPERATOR}, ${cursorOf(sql.part`created_at, name`)} from operator
        where ${createdAt}::timestamptz is null or (created_at, name) > (${createdAt}::timestamptz, ${name}::text)
        order by created_at, name limit ${limit + 1}`,
  )
  return pageOf(rows, limit)
}

export const findOperator = (db: Db, name: string): Promise<OperatorRow | undefined> =>
  db.maybe(operatorRow, sql`select ${OPERATOR} from operator where lower(name) = lower(${name})`)

export const lockOperator = (db: Db, name: string): Promise<OperatorRow | undefined> =>
  db.maybe(operatorRow, sql`select ${OPERATOR} from operator where lower(name) = lower(${name}) for update`)

/** Locks the active admins until the end of the transaction. */
export const lockAdmins = (db: Db): Promise<number> =>
  db.exec(sql`select from operator where role = 'admin' and status = 'active' order by operator_id for update`)

/** Whether there is an active admin with a password or a valid token of role admin. */
export const hasUsableAdmin = (db: Db, now: Date): Promise<boolean> =>
  db.value(
    z.boolean(),
    sql`select exists (
            select 1 from operator o where o.role = 'admin' and o.status = 'active'
              and (o.password_hash is not null
                   or exists (select 1 from operator_token t
                              where t.operator_id = o.operator_id and t.role = 'admin' and t.revoked_at is null
                                and t.expires_at > ${now}))) as found`,
  )

export const setRole = (db: Db, operatorId: string, role: Role): Promise<number> =>
  db.exec(sql`update operator set role = ${role} where operator_id = ${operatorId}`)

/** Also ends the operator's sessions. */
export const setStatus = (db: Db, operatorId: string, status: OperatorRow['status']): Promise<number> =>
  db.exec(
    sql`update operator set status = ${status}, credential_version = credential_version + 1
        where operator_id = ${operatorId}`,
  )

export const setPassword = (db: Db, operatorId: string, passwordHash: string): Promise<number> =>
  db.exec(
    sql`update operator set password_hash = ${passwordHash}, credential_version = credential_version + 1
        where operator_id = ${operatorId}`,
  )

/** Stores an authenticator, which is in force once confirmed. Returns 0 if one is in force already. */
export const setTotp = (db: Db, operatorId: string, sealed: Buffer): Promise<number> =>
  db.exec(
    sql`update operator set totp_sealed = ${sealed}, totp_last_step = 0
        where operator_id = ${operatorId} and totp_confirmed_at is null`,
  )

export const removeTotp = (db: Db, operatorId: string): Promise<number> =>
  db.exec(
    sql`update operator set totp_sealed = null, totp_confirmed_at = null, totp_last_step = 0
        where operator_id = ${operatorId}`,
  )

export const removeRecoveryCodes = (db: Db, operatorId: string): Promise<number> =>
  db.exec(sql`delete from operator_recovery_code where operator_id = ${operatorId}`)

/** Replaces the recovery codes. */
export async function setRecoveryCodes(db: Db, operatorId: string, hashes: readonly Buffer[]): Promise<void> {
  await removeRecoveryCodes(db, operatorId)
  await db.exec(
    sql`insert into operator_recovery_code (operator_id, code_hash)
        select ${operatorId}::uuid, hash from unnest(${hashes}::bytea[]) as hash`,
  )
}

/** Returns 1 to exactly one of simultaneous callers. Codes count only while an authenticator is in force. */
export const spendRecoveryCode = (db: Db, operatorId: string, hash: Buffer, now: Date): Promise<number> =>
  db.exec(
    sql`update operator_recovery_code c set used_at = ${now} from operator o
        where c.operator_id = ${operatorId} and c.code_hash = ${hash} and c.used_at is null
          and o.operator_id = c.operator_id and o.totp_confirmed_at is not null`,
  )

/** Marks the authenticator's codes up to this step as used; returns 0 if they already were, or it was replaced. */
export const spendTotpStep = (
  db: Db,
  { operator_id, totp_sealed }: Pick<Credential, 'operator_id' | 'totp_sealed'>,
  step: number,
  now: Date,
): Promise<number> =>
  db.exec(
    sql`update operator set totp_last_step = ${step}, totp_confirmed_at = coalesce(totp_confirmed_at, ${now})
        where operator_id = ${operator_id} and totp_sealed = ${totp_sealed} and totp_last_step < ${step}`,
  )

const credential = z.object({
  operator_id: z.string(),
  name: z.string(),
  status: operatorRow.shape.status,
  password_hash: z.string().nullable(),
  totp_sealed: z.instanceof(Buffer).nullable(),
  totp_confirmed_at: z.date().nullable(),
  credential_version: z.number(),
})
export type Credential = z.output<typeof credential>

export const findCredential = (db: Db, name: string): Promise<Credential | undefined> =>
  db.maybe(
    credential,
    sql`select operator_id, name, status, password_hash, totp_sealed, totp_confirmed_at, credential_version
        from operator where lower(name) = lower(${name})`,
  )
