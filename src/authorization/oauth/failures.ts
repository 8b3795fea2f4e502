import { type FailureRow, failureFactory, type OAuthError } from '../../platform/lib/failure.ts'

/**
 * Every way in which A1–A3 refuse, by name (REFERENCE "Errors of area A"): what the caller is told of it, and the only place in this
 * room that knows a rescode. Failures that a caller must not tell from one another share a row.
 */

const badRequest =
  (error: string) =>
  (description: OAuthError['description']): OAuthError => ({ error, status: 400, description })
const oauthInvalidRequest = badRequest('invalid_request')
const oauthInvalidScope = badRequest('invalid_scope')
const INVALID_CLIENT: OAuthError = {
  error: 'invalid_client',
  status: 401,
  description: 'client authentication failed',
}
const UNUSABLE_GRANT: OAuthError = {
  error: 'invalid_grant',
  status: 400,
  description: 'the code or refresh token is invalid, expired or revoked, or does not fit the request',
}

const BAD_CREDENTIALS: FailureRow = { rescode: 20001, standard: INVALID_CLIENT }
const INVALID_GRANT: FailureRow = { rescode: 20006, standard: UNUSABLE_GRANT }
/** The caller's fault, so its native status is not that of a server error. */
const INVALID_CODE: FailureRow = {
  rescode: 20013,
  nativeStatus: 400,
  message: (code) => `Invalid authorization code: ${code}`,
  standard: UNUSABLE_GRANT,
}
const TOO_MANY: FailureRow = {
  rescode: 20003,
  status: 429,
  standard: { error: 'temporarily_unavailable', status: 429, description: 'too many requests' },
}

const unusableForm = (why: string): FailureRow => ({
  rescode: 20007,
  what: `the consent form ${why}; go back to the app and start again`,
  standard: oauthInvalidRequest('the consent form cannot be used; go back to the app and start again'),
})

export const OAUTH_FAILURES = {
  // The request (row 1 of A1–A5)
  method_not_allowed: { rescode: 20010, status: 405 },

  // Parameters (A1 row 2; A2 rows 2, 8 and 9)
  url_too_long: { rescode: 20007, byApp: true, what: 'the URL is longer than 8 KiB' },
  parameter_undecodable: {
    rescode: 20007,
    byApp: true,
    what: (name) => `${name} cannot be decoded`,
    standard: oauthInvalidRequest((name) => `${name} cannot be decoded`),
  },
  parameter_repeated: {
    rescode: 20007,
    byApp: true,
    what: (name) => `${name} is given twice`,
    standard: oauthInvalidRequest((name) => `${name} is given twice`),
  },
  parameter_missing: {
    rescode: 20007,
    byApp: true,
    what: (name) => `${name} is missing`,
    standard: oauthInvalidRequest((name) => `${name} is missing`),
  },
  too_many_requests: TOO_MANY,

  // Who calls (A1 rows 4 and 5; A2 rows 3–7)
  app_unknown: BAD_CREDENTIALS,
  credentials_missing: BAD_CREDENTIALS,
  credentials_wrong: BAD_CREDENTIALS,
  credentials_in_body: {
    rescode: 20001,
    message: 'Bad client credentials: parameters go in the query string, not in a body',
  },
  basic_malformed: { rescode: 20002, standard: INVALID_CLIENT },
  basic_contradicts_query: { rescode: 20005 },
  app_not_approved: {
    rescode: 20014,
    standard: { error: 'unauthorized_client', status: 400, description: 'the client is not approved, or is suspended' },
  },

  // The authorization request (A1 rows 3–12)
  response_type_unsupported: {
    rescode: 20018,
    what: (type) => type,
    standard: { error: 'unsupported_response_type', status: 400, description: 'response_type must be code' },
  },
  redirect_uri_not_absolute: {
    rescode: 20007,
    byApp: true,
    what: (uri) => `redirect_uri is not an absolute URL; received: ${uri}`,
  },
  redirect_uri_not_registered: { rescode: 20012 },
  redirect_uri_not_loopback: {
    rescode: 20012,
    standard: oauthInvalidRequest('an app in development takes only redirect URIs of the loopback interface'),
  },
  redirect_uri_with_fragment: { rescode: 20007, byApp: true, what: 'redirect_uri must not have a fragment' },
  redirect_uri_with_answer: {
    rescode: 20007,
    byApp: true,
    what: 'redirect_uri must not have code or state in its query',
  },
  state_malformed: {
    rescode: 20007,
    byApp: true,
    what: (state) => `state may hold only the characters a-z, A-Z and 0-9; received: ${state}`,
  },
  state_too_long: {
    rescode: 20007,
    byApp: true,
    what: (bytes) => `state is longer than 128 bytes; received: ${bytes} bytes`,
  },
  scope_unknown: {
    rescode: 20008,
    what: (scope) => scope || '(empty)',
    standard: oauthInvalidScope('unknown scope'),
  },
  scope_not_held: { rescode: 20004, standard: oauthInvalidScope('the client may not request this scope') },
  code_challenge_method_unsupported: {
    rescode: 20007,
    byApp: true,
    what: (method) => `code_challenge_method must be S256; received: ${method || 'none'}`,
    standard: oauthInvalidRequest('code_challenge_method must be S256'),
  },
  code_challenge_malformed: {
    rescode: 20007,
    byApp: true,
    what: (challenge) =>
      `code_challenge must be the 43 characters of a base64url SHA-256; received: ${challenge || 'none'}`,
    standard: oauthInvalidRequest('code_challenge must be the 43 characters of a base64url SHA-256'),
  },
  user_blocked: { rescode: 20016, standard: UNUSABLE_GRANT },
  /** A page, and nothing is sent to the app. */
  app_in_development: {
    rescode: 20014,
    standard: {
      error: 'unauthorized_client',
      status: 403,
      description:
        'the client is in development and takes only test users of its own, or a test user of another app is signed in',
    },
  },

  // The decision on the consent form (A1 rows 13 and 14)
  form_from_another_site: unusableForm('came from another site'),
  form_without_session: unusableForm('belongs to a session that has ended'),
  form_forged: unusableForm('is invalid'),
  form_incomplete: {
    rescode: 20007,
    what: 'the form is incomplete',
    standard: oauthInvalidRequest('the form is incomplete'),
  },
  form_decision_unknown: {
    rescode: 20007,
    what: 'decision must be approve or refuse',
    standard: oauthInvalidRequest('decision must be approve or refuse'),
  },
  form_refused_before: unusableForm('was refused already'),
  form_approved_before: unusableForm('was approved already, and what it allowed is now withdrawn'),
  form_withdrawn_since: unusableForm('was approved already, and what it allowed has been withdrawn since'),
  form_used_before: unusableForm('was used already'),
  /** No answer reports it: the browser goes back to the app with `state` alone, and the audit log keeps the rescode. */
  user_refused: { rescode: 20019 },

  // The exchange (A2 from row 8 on)
  grant_type_unsupported: {
    rescode: 20017,
    what: (type) => type,
    standard: {
      error: 'unsupported_grant_type',
      status: 400,
      description: 'grant_type must be authorization_code or refresh_token',
    },
  },
  code_forged: INVALID_CODE,
  code_unknown: INVALID_CODE,
  code_used: INVALID_CODE,
  code_of_another_app: INVALID_CODE,
  code_expired: INVALID_CODE,
  code_spent_meanwhile: INVALID_CODE,
  redirect_uri_differs: { rescode: 20012, standard: UNUSABLE_GRANT },
  state_differs: {
    rescode: 20007,
    what: 'state differs from the one of the authorization request',
    standard: UNUSABLE_GRANT,
  },
  code_verifier_wrong: INVALID_GRANT,
  grant_withdrawn: INVALID_GRANT,

  // Refreshing (A3)
  refresh_token_forged: INVALID_GRANT,
  refresh_token_unknown: INVALID_GRANT,
  refresh_token_revoked: INVALID_GRANT,
  refresh_token_rotated: INVALID_GRANT,
  refresh_token_reused: INVALID_GRANT,
  refresh_answer_gone: INVALID_GRANT,
  refresh_token_expired: { rescode: 20021, standard: UNUSABLE_GRANT },
  scope_beyond_grant: { rescode: 20008, standard: oauthInvalidScope('a scope goes beyond what was granted') },
  no_scope_left: { rescode: 20004, standard: oauthInvalidScope('the client no longer has any of these scopes') },

  // Operators
  grant_unknown: { rescode: 20007, status: 404, what: 'no such grant of this user' },
} as const satisfies Readonly<Record<string, FailureRow>>

export const oauthFailure = failureFactory<keyof typeof OAUTH_FAILURES>(OAUTH_FAILURES)
