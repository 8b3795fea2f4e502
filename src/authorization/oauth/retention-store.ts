import { ofPerson, type PersonalRows, type UserRowKey } from '../../platform/db/personal-rows.ts'
import { MARGIN_S, type Retention } from '../../platform/db/retention.ts'
import { type Db, type Fragment, sql } from '../../platform/db/sql.ts'
import { addSeconds, DAY_S } from '../../platform/lib/clock.ts'
import type { UserKey } from '../account/index.ts'
import { deleteCodes } from './code-store.ts'

export const LONGEST_REFRESH_S = 90 * DAY_S
/** The longest ACCESS_TOKEN_LIFETIME_S that can be set. */
const LONGEST_ACCESS_S = 365 * DAY_S

/** How long users see that an app has lost access, seconds. */
export const WITHDRAWN_SHOWN_S = 365 * DAY_S

/**
 * Tokens carry their own expiry, and decisions on forms end with the session. A rotated refresh token is kept until it
 * expires: sent again, it still revokes the grant. So does a used code; `used_code` keeps what recognises it for as long as
 * a token issued for it can live.
 *
 * A grant is the only record of what a user has allowed. It outlives its tokens under any setting: a year and 90 days from
 * the consent, and a year from its revocation, while its user sees that.
 */
export const OAUTH_RETENTION: readonly Retention[] = [
  { table: 'access_token', key: ['routing_key', 'token_hash'], column: 'expires_at', keptS: () => MARGIN_S },
  { table: 'ended_access_token', key: ['routing_key', 'token_hash'], column: 'expires_at', keptS: () => MARGIN_S },
  { table: 'refresh_token', key: ['routing_key', 'token_hash'], column: 'expires_at', keptS: () => MARGIN_S },
  {
    table: 'authorization_code',
    key: ['routing_key', 'code_hash'],
    column: 'expires_at',
    keptS: () => DAY_S,
    remove: deleteCodes,
  },
  {
    table: 'used_code',
    key: ['routing_key', 'code_hash'],
    column: 'expires_at',
    keptS: ({ ACCESS_TOKEN_LIFETIME_S }) => LONGEST_REFRESH_S + ACCESS_TOKEN_LIFETIME_S + MARGIN_S,
  },
  { table: 'consent_decision', key: ['routing_key', 'form_id'], column: 'expires_at', keptS: () => MARGIN_S },
  {
    table: 'remembered_consent',
    key: ['routing_key', 'cid', 'user_id', 'app_key'],
    column: 'allowed_at',
    keptS: () => LONGEST_REFRESH_S + LONGEST_ACCESS_S,
  },
  {
    table: 'user_grant',
    key: ['routing_key', 'grant_id'],
    column: 'created_at',
    keptS: () => LONGEST_REFRESH_S + LONGEST_ACCESS_S + MARGIN_S,
    unless: (now) => sql.part`revoked_at is not null and revoked_at > ${addSeconds(now, -WITHDRAWN_SHOWN_S)}`,
  },
]

const OF_CODE = { column: 'grant_id', key: { code_hash: 'bytea' } } as const
const OF_TOKEN = { column: 'grant_id', key: { token_hash: 'bytea' } } as const
const OF_FORM = { column: 'form_id', key: { form_id: 'uuid' } } as const

/** Rows of a grant, which `column` names. Codes first: an exchange that spends one has then committed its tokens. */
const ROWS_OF_GRANTS = [
  {
    what: 'codes',
    table: 'authorization_code',
    ...OF_CODE,
    shown: ['grant_id', 'expires_at', 'app_key', 'redirect_uri', 'used_at'],
  },
  { what: 'used_codes', table: 'used_code', ...OF_CODE, shown: ['grant_id', 'expires_at', 'used_at'] },
  { what: 'refresh_tokens', table: 'refresh_token', ...OF_TOKEN, shown: ['grant_id', 'expires_at', 'rotated_at'] },
  { what: 'access_tokens', table: 'access_token', ...OF_TOKEN, shown: ['grant_id', 'expires_at', 'scopes'] },
  { what: 'ended_access_tokens', table: 'ended_access_token', ...OF_TOKEN, shown: ['grant_id', 'expires_at'] },
  { what: 'consent_decisions', table: 'consent_decision', ...OF_FORM, shown: ['decision', 'expires_at'] },
]

/** `is true` keeps the planner from making a join of it, which reads all rows of the routing key once for each grant. */
const ofGrantsOf = (person: UserRowKey, column: string): Fragment => sql.part`(${sql.identifier(column)} in (
  select grant_id from user_grant where ${ofPerson(person)})) is true`

export const OAUTH_OF_PERSON: readonly PersonalRows[] = [
  ...ROWS_OF_GRANTS.map(({ column, ...rows }) => ({
    ...rows,
    of: (person: UserRowKey): Fragment => ofGrantsOf(person, column),
  })),
  {
    what: 'remembered_consents',
    table: 'remembered_consent',
    key: { app_key: 'text' },
    shown: ['app_key', 'scopes', 'allowed_at'],
  },
  {
    what: 'grants',
    table: 'user_grant',
    key: { grant_id: 'uuid' },
    shown: ['grant_id', 'app_key', 'scopes', 'created_at', 'revoked_at', 'auth_time'],
  },
]

/** Deletes all grants of these users and all grants to these micro-apps, with everything that belongs to them. */
export async function deleteGrantsOf(db: Db, users: readonly KeyedUser[], appKeys: readonly string[]): Promise<void> {
  for (const shard of db.shards()) await deleteGrants(shard, sql.part`app_key = any (${appKeys}::text[])`)
  for (const { routing_key, cid, user_id } of users) {
    await deleteGrants(db.of(routing_key), ofPerson({ routingKey: routing_key, cid, userId: user_id }))
  }
}

type KeyedUser = UserKey & { readonly routing_key: number }

async function deleteGrants(shard: Db, where: Fragment): Promise<void> {
  const grants = sql.part`(select routing_key, grant_id from user_grant where ${where})`
  for (const { table, column } of ROWS_OF_GRANTS) {
    const key = sql.part`(routing_key, ${sql.identifier(column)})`
    await shard.exec(sql`delete from ${sql.identifier(table)} where ${key} in ${grants}`)
  }
  for (const table of ['remembered_consent', 'user_grant']) {
    await shard.exec(sql`delete from ${sql.identifier(table)} where ${where}`)
  }
}
