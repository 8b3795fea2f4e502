import { z } from 'zod'
import type { Retention } from '../../platform/db/retention.ts'
import { type Db, sql } from '../../platform/db/sql.ts'
import { DAY_S } from '../../platform/lib/clock.ts'
import { operatorToken, role } from './wire.ts'

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
