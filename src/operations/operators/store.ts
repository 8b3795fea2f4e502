import { z } from 'zod'
import { beginsWith, listPage } from '../../platform/db/page.ts'
import type { Retention } from '../../platform/db/retention.ts'
import { type Db, sql } from '../../platform/db/sql.ts'
import { DAY_S } from '../../platform/lib/clock.ts'
import type { Role } from '../../platform/lib/web/admin-auth.ts'
import { type OperatorFilter, type OperatorRow, operatorRow, operatorToken, role } from './wire.ts'

/** Names of operators are case-insensitive. */

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
export const listOperators = (db: Db, { name, ...page }: OperatorFilter) =>
  listPage(
    db,
    {
      row: operatorRow,
      columns: OPERATOR,
      from: sql.part`operator where (${name}::text is null or lower(name) like lower(${beginsWith(name)}))`,
      keys: { created_at: 'timestamptz', name: 'text' },
    },
    page,
  )

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

/** Whether `spendRecoveryCode` would take it now. */
export const hasRecoveryCode = (db: Db, operatorId: string, hash: Buffer): Promise<boolean> =>
  db.value(
    z.boolean(),
    sql`select exists (
          select 1 from operator_recovery_code c join operator o using (operator_id)
          where c.operator_id = ${operatorId} and c.code_hash = ${hash} and c.used_at is null
            and o.totp_confirmed_at is not null)`,
  )

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
  totp_last_step: z.coerce.number(),
  credential_version: z.number(),
})
export type Credential = z.output<typeof credential>

export const findCredential = (db: Db, name: string): Promise<Credential | undefined> =>
  db.maybe(
    credential,
    sql`select operator_id, name, status, password_hash, totp_sealed, totp_confirmed_at, totp_last_step,
          credential_version
        from operator where lower(name) = lower(${name})`,
  )

/** Expired tokens are kept for a while because the audit log names them by id. */
export const OPERATOR_RETENTION: readonly Retention[] = [
  { table: 'operator_token', key: ['token_hash'], column: 'expires_at', keptS: () => 455 * DAY_S },
  { table: 'operator_session', key: ['session_hash'], column: 'expires_at', keptS: () => 3_600 },
  { table: 'first_operator_session', key: ['session_hash'], column: 'expires_at', keptS: () => 3_600 },
]

const tokenOf = operatorToken.extend({ operator_id: z.string() })
type NewTokenRow = Omit<z.output<typeof tokenOf>, 'created_at' | 'last_used_at'> & { readonly hash: Buffer }

/** Returns 0 if there is a token with this id. */
export const insertToken = (db: Db, made: NewTokenRow, now: Date): Promise<number> =>
  db.exec(
    sql`insert into operator_token (token_hash, token_id, operator_id, name, role, created_at, expires_at)
        values (${made.hash}, ${made.token_id}, ${made.operator_id}, ${made.name}, ${made.role}, ${now},
                ${made.expires_at})
        on conflict (token_id) do nothing`,
  )

const found = z.object({
  name: z.string(),
  operatorRole: role,
  tokenRole: role,
  lastUsedAt: z.date().nullable(),
})

/** Finds a valid token and its operator. */
export const findToken = (db: Db, hash: Buffer, now: Date) =>
  db.maybe(
    found,
    sql`select o.name, o.role as "operatorRole", t.role as "tokenRole", t.last_used_at as "lastUsedAt"
        from operator_token t join operator o on o.operator_id = t.operator_id
        where t.token_hash = ${hash} and t.revoked_at is null and t.expires_at > ${now} and o.status = 'active'`,
  )

/** Does nothing if a use since `unlessSince` is already recorded. */
export const touchToken = (db: Db, hash: Buffer, now: Date, unlessSince: Date): Promise<number> =>
  db.exec(
    sql`update operator_token set last_used_at = ${now}
        where token_hash = ${hash} and (last_used_at is null or last_used_at < ${unlessSince})`,
  )

/** Valid tokens of these operators, oldest first; of very many the newest. */
export const liveTokens = (db: Db, operatorIds: readonly string[], now: Date) =>
  db.many(
    tokenOf,
    sql`select operator_id, token_id, name, role, created_at, expires_at, last_used_at from (
          select operator_id, token_id, name, role, created_at, expires_at, last_used_at from operator_token
          where operator_id = any(${operatorIds}::uuid[]) and revoked_at is null and expires_at > ${now}
          order by created_at desc limit 10000
        ) newest order by created_at`,
  )

/** When the last of the tokens issued by then expires; null if none of them is accepted any more. */
export const lastTokenExpiry = (db: Db, issuedBy: Date, now: Date): Promise<Date | null> =>
  db.value(
    z.date().nullable(),
    sql`select max(expires_at) as at from operator_token
        where created_at <= ${issuedBy} and revoked_at is null and expires_at > ${now}`,
  )

/** Returns 0 if there is no such token, or it is already revoked. */
export const revokeToken = (db: Db, operatorId: string, tokenId: string, now: Date): Promise<number> =>
  db.exec(
    sql`update operator_token set revoked_at = ${now}
        where operator_id = ${operatorId} and token_id = ${tokenId} and revoked_at is null`,
  )
