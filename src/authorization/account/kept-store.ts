import type { PersonalRows } from '../../platform/db/personal-rows.ts'
import { MARGIN_S, type Retention } from '../../platform/db/retention.ts'
import { DAY_S } from '../../platform/lib/clock.ts'

/** How long rows of this room are kept, and which of them are personal data. */

const SIGN_IN_DAYS = 90

const UNTIL_EXPIRED = { column: 'expires_at', keptS: () => MARGIN_S } as const

export const ACCOUNT_RETENTION: readonly Retention[] = [
  { table: 'browser_session', key: ['routing_key', 'session_hash'], ...UNTIL_EXPIRED },
  { table: 'used_challenge', key: ['challenge_hash'], ...UNTIL_EXPIRED },
  { table: 'password_link', key: ['routing_key', 'link_hash'], ...UNTIL_EXPIRED },
  { table: 'contact_change', key: ['routing_key', 'cid', 'user_id', 'kind'], ...UNTIL_EXPIRED },
  {
    table: 'sign_in',
    key: ['routing_key', 'cid', 'user_id', 'at', 'sign_in_id'],
    column: 'at',
    keptS: () => SIGN_IN_DAYS * DAY_S,
  },
]

export const ACCOUNT_OF_PERSON: readonly PersonalRows[] = [
  {
    what: 'sessions',
    table: 'browser_session',
    key: { session_hash: 'bytea' },
    shown: ['created_at', 'expires_at', 'address', 'user_agent', 'amr', 'authenticated_at', 'acr'],
  },
  {
    what: 'sign_ins',
    table: 'sign_in',
    key: { at: 'timestamptz', sign_in_id: 'uuid' },
    shown: ['at', 'outcome', 'method', 'address', 'user_agent'],
  },
  {
    what: 'contact_changes',
    table: 'contact_change',
    key: { kind: 'text' },
    shown: ['kind', 'value', 'asked_at', 'expires_at'],
  },
  {
    what: 'passkeys',
    table: 'passkey',
    key: { credential_id: 'bytea' },
    shown: ['name', 'created_at', 'last_used_at'],
  },
  { what: 'pictures', table: 'profile_picture', key: {}, shown: ['made_at'] },
  { what: 'recovery_codes', table: 'recovery_code', key: { code_hash: 'bytea' }, shown: ['created_at', 'used_at'] },
  { what: 'authenticators', table: 'user_totp', key: {}, shown: ['created_at', 'confirmed_at'] },
  {
    what: 'password_links',
    table: 'password_link',
    key: { link_hash: 'bytea' },
    shown: ['created_at', 'expires_at', 'used_at'],
  },
  { what: 'credentials', table: 'user_credential', key: {}, shown: ['passport', 'passport_shown'] },
  {
    what: 'profile',
    table: 'user_profile',
    key: {},
    shown: [
      'cid',
      'user_id',
      'name',
      'gender',
      'big_avatar_url',
      'phone_number',
      'status',
      'created_at',
      'updated_at',
      'valid_from',
    ],
  },
]
