import type { PersonalRows, UserRowKey } from '../../platform/db/personal-rows.ts'
import { type Fragment, sql } from '../../platform/db/sql.ts'

const ofGrants =
  (column: string) =>
  ({ routingKey, cid, userId }: UserRowKey): Fragment =>
    sql.part`${sql.identifier(column)} in (
      select grant_id from user_grant where routing_key = ${routingKey} and cid = ${cid} and user_id = ${userId})`
const TOKEN_COLUMNS = ['grant_id', 'expires_at']

/** Codes first: an exchange that has spent one is done before its tokens are looked for. */
export const OAUTH_OF_PERSON: readonly PersonalRows[] = [
  {
    what: 'codes',
    table: 'authorization_code',
    of: ofGrants('grant_id'),
    key: { code_hash: 'bytea' },
    shown: [...TOKEN_COLUMNS, 'app_key', 'redirect_uri', 'used_at'],
  },
  {
    what: 'used_codes',
    table: 'used_code',
    of: ofGrants('grant_id'),
    key: { code_hash: 'bytea' },
    shown: [...TOKEN_COLUMNS, 'used_at'],
  },
  {
    what: 'refresh_tokens',
    table: 'refresh_token',
    of: ofGrants('grant_id'),
    key: { token_hash: 'bytea' },
    shown: [...TOKEN_COLUMNS, 'rotated_at'],
  },
  {
    what: 'access_tokens',
    table: 'access_token',
    of: ofGrants('grant_id'),
    key: { token_hash: 'bytea' },
    shown: [...TOKEN_COLUMNS, 'scopes'],
  },
  {
    what: 'ended_access_tokens',
    table: 'ended_access_token',
    of: ofGrants('grant_id'),
    key: { token_hash: 'bytea' },
    shown: TOKEN_COLUMNS,
  },
  {
    what: 'consent_decisions',
    table: 'consent_decision',
    of: ofGrants('form_id'),
    key: { form_id: 'uuid' },
    shown: ['decision', 'expires_at'],
  },
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
