import { type FailureRow, failureFactory, oauthError } from '../../platform/lib/failure.ts'
import { localized } from '../../platform/lib/localized-text.ts'

/** The failures of the standard dialect beyond those of shared operations, with the rescodes that error pages show. */

const row = (...error: Parameters<typeof oauthError>): FailureRow => ({
  rescode: 20007,
  standard: oauthError(...error),
})

const INVALID_CLIENT = row('invalid_client', localized('client-failed'), 401)
/** The names tell the app's developers what was wrong; the answer is that of any wrong credentials. */
const ASSERTION: FailureRow = { ...INVALID_CLIENT, rescode: 20001 }

export const OIDC_FAILURES = {
  // Parameters of any endpoint
  parameter_malformed: row('invalid_request', (name) => localized('parameter-malformed', { name })),
  request_too_long: row('invalid_request', localized('request-too-long')),

  // Who calls
  client_authentication_twice: row('invalid_request', localized('client-twice')),
  client_id_differs: row('invalid_request', localized('client-differs')),
  client_authentication_missing: INVALID_CLIENT,
  client_authentication_unsupported: INVALID_CLIENT,
  client_is_public: INVALID_CLIENT,
  assertion_unusable: ASSERTION,
  assertion_key_unknown: ASSERTION,
  assertion_for_another: ASSERTION,
  assertion_out_of_time: ASSERTION,
  assertion_used: ASSERTION,

  // The authorization request
  client_unknown: { ...row('invalid_client', localized('client-unknown')), rescode: 20001 },
  redirect_uri_unknown: { ...row('invalid_request', localized('redirect-uri-unregistered')), rescode: 20012 },
  request_object: row('request_not_supported', localized('request-object')),
  request_uri_foreign: row('request_uri_not_supported', localized('request-uri-foreign')),
  request_uri_unusable: row('invalid_request_uri', localized('request-uri-unusable')),
  registration: row('registration_not_supported', localized('no-registration')),
  challenge_missing: row('invalid_request', localized('challenge-missing')),
  prompt_contradictory: row('invalid_request', localized('prompt-contradictory')),
  continuation_unusable: row('invalid_request', localized('continuation-unusable')),
  login_required: row('login_required', localized('login-required')),
  consent_required: row('consent_required', localized('consent-required')),
  user_refused: row('access_denied', localized('request-denied')),
  user_blocked: row('access_denied', localized('account-blocked')),
  post_logout_uri_unknown: { ...row('invalid_request', localized('post-logout-unregistered')), rescode: 20012 },

  logout_client_missing: row('invalid_request', localized('post-logout-client')),

  // Tokens
  access_token_missing: row('invalid_request', localized('token-missing'), 401),
  access_token_twice: row('invalid_request', localized('token-once')),

  // Operators
  signing_key_unknown: { rescode: 20007, status: 404, what: localized('no-signing-key') },
} as const satisfies Readonly<Record<string, FailureRow>>

export const oidcFailure = failureFactory<keyof typeof OIDC_FAILURES>(OIDC_FAILURES)

export const malformed = (parameter: string) =>
  oidcFailure('parameter_malformed', { value: parameter, detail: parameter })
