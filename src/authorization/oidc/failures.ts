import { type FailureRow, failureFactory, type OAuthError } from '../../platform/lib/failure.ts'
import type { Rescode } from '../../platform/lib/web/rescode.ts'

/**
 * Every way in which the standard dialect refuses beyond those of the operations that it shares with the contract's: the
 * error, its HTTP status where it is not sent by way of the browser, and the rescode that an error page shows.
 */

const row = (error: string, description: OAuthError['description'], more: Partial<OAuthError> = {}) =>
  ({ rescode: 20007, standard: { error, status: 400, description, ...more } }) satisfies FailureRow & {
    rescode: Rescode
  }

const INVALID_CLIENT = row('invalid_client', 'client authentication failed', { status: 401 })
/** What was wrong with it is for the app's developers; a caller is told what any wrong credentials are told. */
const ASSERTION: FailureRow = { ...INVALID_CLIENT, rescode: 20001 }

export const OIDC_FAILURES = {
  // What no operation has named: a body that cannot be read, a fault of ours

  // Parameters of any endpoint
  parameter_malformed: row('invalid_request', (name) => `${name} is malformed`),
  request_too_long: row('invalid_request', 'the request is too long'),

  // Who calls
  client_authentication_twice: row('invalid_request', 'use only one client authentication method'),
  client_id_differs: row('invalid_request', 'client_id does not match the authenticated client'),
  client_authentication_missing: INVALID_CLIENT,
  client_authentication_unsupported: INVALID_CLIENT,
  client_is_public: INVALID_CLIENT,
  assertion_unusable: ASSERTION,
  assertion_key_unknown: ASSERTION,
  assertion_for_another: ASSERTION,
  assertion_out_of_time: ASSERTION,
  assertion_used: ASSERTION,

  // The authorization request
  client_unknown: { ...row('invalid_client', 'unknown client'), rescode: 20001 },
  redirect_uri_unknown: { ...row('invalid_request', 'redirect_uri is not registered'), rescode: 20012 },
  request_object: row('request_not_supported', 'request objects are not supported'),
  request_uri_foreign: row('request_uri_not_supported', 'request_uri must come from the pushed request endpoint'),
  request_uri_unusable: row('invalid_request_uri', 'request_uri is unknown, used or expired'),
  registration: row('registration_not_supported', 'registration is not supported'),
  challenge_missing: row('invalid_request', 'code_challenge is missing'),
  prompt_contradictory: row('invalid_request', 'prompt has an unknown value, or combines none with another value'),
  continuation_unusable: row('invalid_request', 'the address is incomplete; go back to the app and start again'),
  login_required: row('login_required', 'the person has to sign in'),
  consent_required: row('consent_required', 'user consent is required'),
  user_refused: row('access_denied', 'the user denied the request'),
  user_blocked: row('access_denied', 'the account is blocked'),
  post_logout_uri_unknown: { ...row('invalid_request', 'post_logout_redirect_uri is not registered'), rescode: 20012 },

  logout_client_missing: row(
    'invalid_request',
    'post_logout_redirect_uri needs id_token_hint or client_id, which says whose address it is',
  ),

  // Tokens
  access_token_missing: row('invalid_request', 'an access token is missing', { status: 401 }),
  access_token_twice: row('invalid_request', 'send the access token by one method only'),

  // Operators
  signing_key_unknown: { rescode: 20007, status: 404, what: 'no such signing key' },
} as const satisfies Readonly<Record<string, FailureRow>>

export const oidcFailure = failureFactory<keyof typeof OIDC_FAILURES>(OIDC_FAILURES)
