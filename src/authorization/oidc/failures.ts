import { type FailureRow, failureFactory, oauthError } from '../../platform/lib/failure.ts'
import { localized } from '../../platform/lib/localized-text.ts'

/** The failures of the standard dialect beyond those of shared operations, with the rescodes that error pages show. */

/** No mistake: what the person has decided, or an expected answer to `prompt=none`. */
const outcome = (...error: Parameters<typeof oauthError>): FailureRow => ({
  rescode: 20007,
  standard: oauthError(...error),
})
const row = (fix: string, ...error: Parameters<typeof oauthError>): FailureRow => ({ ...outcome(...error), fix })

const INVALID_CLIENT: FailureRow = {
  rescode: 20007,
  standard: oauthError('invalid_client', localized('client-failed'), 401),
}
/** The names tell the app's developers what was wrong; the answer is that of any wrong credentials. */
const ASSERTION: FailureRow = { ...INVALID_CLIENT, rescode: 20001 }

export const OIDC_FAILURES = {
  // Parameters of any endpoint
  parameter_malformed: row('parameter', 'invalid_request', (name) => localized('parameter-malformed', { name })),
  request_too_long: row('too_long', 'invalid_request', localized('request-too-long')),

  // Who calls
  client_authentication_twice: row('two_ways', 'invalid_request', localized('client-twice')),
  client_id_differs: row('other_id', 'invalid_request', localized('client-differs')),
  client_authentication_missing: { ...INVALID_CLIENT, fix: 'credentials' },
  client_authentication_unsupported: { ...INVALID_CLIENT, fix: 'kind' },
  client_is_public: { ...INVALID_CLIENT, fix: 'kind' },
  assertion_unusable: { ...ASSERTION, fix: 'assertion' },
  assertion_key_unknown: { ...ASSERTION, fix: 'assertion_key' },
  assertion_for_another: { ...ASSERTION, fix: 'assertion_aud' },
  assertion_out_of_time: { ...ASSERTION, fix: 'clock' },
  assertion_used: { ...ASSERTION, fix: 'assertion_once' },

  // The authorization request
  client_unknown: { ...row('unknown_app', 'invalid_client', localized('client-unknown')), rescode: 20001 },
  redirect_uri_unknown: {
    ...row('redirect_uri', 'invalid_request', localized('redirect-uri-unregistered')),
    rescode: 20012,
  },
  request_object: row('unsupported', 'request_not_supported', localized('request-object')),
  request_uri_foreign: row('unsupported', 'request_uri_not_supported', localized('request-uri-foreign')),
  request_uri_unusable: row('pushed', 'invalid_request_uri', localized('request-uri-unusable')),
  registration: row('unsupported', 'registration_not_supported', localized('no-registration')),
  challenge_missing: row('challenge', 'invalid_request', localized('challenge-missing')),
  prompt_contradictory: row('prompt', 'invalid_request', localized('prompt-contradictory')),
  continuation_unusable: row('form', 'invalid_request', localized('continuation-unusable')),
  login_required: outcome('login_required', localized('login-required')),
  consent_required: outcome('consent_required', localized('consent-required')),
  user_refused: outcome('access_denied', localized('request-denied')),
  user_blocked: row('blocked', 'access_denied', localized('account-blocked')),
  post_logout_uri_unknown: {
    ...row('logout_uri', 'invalid_request', localized('post-logout-unregistered')),
    rescode: 20012,
  },

  logout_client_missing: row('logout_uri', 'invalid_request', localized('post-logout-client')),

  // Tokens
  access_token_missing: row('bearer', 'invalid_request', localized('token-missing'), 401),
  access_token_twice: row('token_once', 'invalid_request', localized('token-once')),

  // Operators
  signing_key_unknown: { rescode: 20007, status: 404, what: localized('no-signing-key') },
} as const satisfies Readonly<Record<string, FailureRow>>

export const oidcFailure = failureFactory<keyof typeof OIDC_FAILURES>(OIDC_FAILURES)

export const malformed = (parameter: string) =>
  oidcFailure('parameter_malformed', { value: parameter, detail: parameter })
