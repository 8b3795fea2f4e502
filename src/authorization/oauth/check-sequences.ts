import type { CheckSequence } from '../../platform/lib/failure.ts'

/**
 * The order of checks of A1 to A3, and the failures of each row. `gatehouse explain`, the API reference and REFERENCE (A2 and
 * A3, by `npm run documents`) are built from it.
 */

const UNREADABLE = {
  check: 'a parameter twice, or one that cannot be decoded; a URL over 8 KiB',
  failures: ['url_too_long', 'parameter_undecodable', 'parameter_repeated'],
}

const A1 = {
  1: { check: 'not GET (the consent form posts to a path of its own)', failures: ['method_not_allowed'] },
  2: UNREADABLE,
  3: {
    check: 'response_type missing; not `code`',
    failures: ['parameter_missing response_type', 'response_type_unsupported'],
  },
  4: { check: 'app_key missing; unknown', failures: ['parameter_missing app_key', 'app_unknown'] },
  5: { check: 'app not approved, or suspended', failures: ['app_not_approved'] },
  6: {
    check: 'redirect_uri missing, or no absolute URL',
    failures: ['parameter_missing redirect_uri', 'redirect_uri_not_absolute'],
  },
  7: {
    check:
      'redirect_uri not registered, or of a refused form; of an app in development, not on the loopback interface; registered, but with a fragment, or with `code` or `state` in its query ([below](#redirect-uri))',
    failures: [
      'redirect_uri_not_registered',
      'redirect_uri_with_fragment',
      'redirect_uri_with_answer',
      'redirect_uri_not_loopback',
    ],
  },
  8: {
    check: 'state missing, over 128 bytes, or with other characters than a-zA-Z0-9',
    failures: ['parameter_missing state', 'state_malformed', 'state_too_long'],
  },
  9: { check: 'scope missing; empty or with an unknown value', failures: ['parameter_missing scope', 'scope_unknown'] },
  10: { check: 'a scope that the app does not hold', failures: ['scope_not_held'] },
  12: { check: 'user blocked', failures: ['user_blocked'] },
  13: {
    check: 'consent form forged or altered (one of another session is shown again)',
    failures: [
      'form_from_another_site',
      'form_without_session',
      'form_forged',
      'form_incomplete',
      'form_decision_unknown',
      'form_refused_before',
      'form_approved_before',
      'form_withdrawn_since',
      'form_used_before',
    ],
  },
  16: {
    check:
      'an app in development asks somebody who is no test user of its own, or another app asks a test user (looked at after row 12)',
    failures: ['app_in_development'],
  },
  15: {
    check: 'too many requests of one address (`AUTHORIZE_PER_MINUTE`; looked at first)',
    failures: ['too_many_requests'],
  },
  17: {
    check:
      'a code_challenge whose method is not S256, or that is not 43 characters of base64url; missing, though the app has `require_pkce_in_a1` (looked at after row 10)',
    failures: ['parameter_missing code_challenge', 'code_challenge_method_unsupported', 'code_challenge_malformed'],
  },
} satisfies CheckSequence

const WHO_CALLS = {
  1: { check: 'not POST', failures: ['method_not_allowed'] },
  2: UNREADABLE,
  3: {
    check: 'app_key or app_secret missing; unknown app; wrong secret: one text, the same work',
    failures: ['credentials_missing', 'credentials_in_body', 'credentials_wrong'],
  },
  4: {
    check: 'query and `Authorization: Basic` both present and different',
    failures: ['basic_contradicts_query'],
  },
  5: { check: '`Authorization: Basic` that cannot be read', failures: ['basic_malformed'] },
  6: { check: 'app not approved, or suspended', failures: ['app_not_approved'] },
  7: {
    check:
      'too many failed authentications of this app from this address (looked at before the secret is compared, so that 20003 never confirms a guess)',
    failures: ['too_many_requests'],
  },
  8: {
    check: 'grant_type missing; unknown',
    failures: ['parameter_missing grant_type', 'grant_type_unsupported'],
  },
} satisfies CheckSequence

const A2 = {
  ...WHO_CALLS,
  9: {
    check: 'code, state or redirect_uri missing',
    failures: ['parameter_missing code', 'parameter_missing state', 'parameter_missing redirect_uri'],
  },
  10: {
    check: "code unknown, used, expired, or another app's: one text",
    failures: [
      'code_forged',
      'code_unknown',
      'code_used',
      'code_of_another_app',
      'code_expired',
      'code_spent_meanwhile',
    ],
  },
  11: { check: 'redirect_uri is not byte for byte that of A1', failures: ['redirect_uri_differs'] },
  12: { check: 'state is not that of A1', failures: ['state_differs'] },
  13: {
    check: 'PKCE verifier missing or wrong where A1 had a challenge, or given where it had none',
    failures: ['code_verifier_wrong'],
  },
  14: { check: 'user blocked since', failures: ['user_blocked'] },
  15: { check: 'grant withdrawn since', failures: ['grant_withdrawn'] },
  16: {
    check: 'the app has lost every scope of the grant since (where some are left, the answer has those)',
    failures: ['no_scope_left'],
  },
} satisfies CheckSequence

const A3 = {
  ...WHO_CALLS,
  9: { check: 'refresh_token missing', failures: ['parameter_missing refresh_token'] },
  10: {
    check: "unknown, malformed, an access token, another app's, or revoked (ownership is checked before expiry)",
    failures: [
      'refresh_token_forged',
      'refresh_token_unknown',
      'refresh_token_revoked',
      'refresh_token_rotated',
      'refresh_token_reused',
      'refresh_answer_gone',
    ],
  },
  11: { check: 'expired', failures: ['refresh_token_expired'] },
  12: {
    check: 'the app has lost every scope of the grant since (where some are left, the answer has those)',
    failures: ['no_scope_left'],
  },
  13: { check: 'user blocked', failures: ['user_blocked'] },
  14: {
    check: 'more than `REFRESHES_PER_MINUTE` refreshes of the app a minute (looked at after row 8)',
    failures: ['too_many_refreshes'],
  },
} satisfies CheckSequence

export const OAUTH_CHECKS = { A1, A2, A3 }
