import { DAY_S, MARGIN_S, type Retention } from '../../platform/db/retention.ts'
import { sql } from '../../platform/db/sql.ts'
import { addSeconds } from '../../platform/lib/clock.ts'
import { deleteCodes } from './used-code-store.ts'

/** The longest that a refresh token lives, seconds. */
export const LONGEST_REFRESH_S = 90 * DAY_S
/** The longest ACCESS_TOKEN_LIFETIME_S that can be set. */
const LONGEST_ACCESS_S = 365 * DAY_S

/** For how long a user sees which apps have lost access, seconds. */
export const WITHDRAWN_SHOWN_S = 365 * DAY_S

/**
 * Tokens and sessions say themselves when they end, decisions on consent forms end with the session, so their rows may go at once. A rotated refresh token is kept
 * until its end like any other: sent again it still revokes the grant.
 *
 * A code that was used and is sent again revokes its grant (DECISIONS "Decided about area A"), so what recognises it stays for
 * as long as a token that came of it can live: a refresh token of 90 days, and an access token issued at its very end. The
 * whole code stays a day.
 *
 * A grant is what a user has allowed, and no other record says so. It stays longer than any of its tokens can live under
 * any setting, so no token ever loses its grant because a setting was changed: a year and 90 days from the consent,
 * revoked or not, and a year from its revocation, for which its user sees that. Revocations, replays and refusals are in the audit log, which has a retention of its own (AUDIT_DAYS).
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
