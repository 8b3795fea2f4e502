import { type FailureRow, failureFactory, type OAuthError, oauthError } from '../../platform/lib/failure.ts'
import { type LocalizedText, localized } from '../../platform/lib/localized-text.ts'

/**
 * Every failure of A1–A3 by name (REFERENCE "Errors of area A") and what the caller is told: the only place in this room that
 * knows rescodes. Failures that a caller must not be able to tell apart share a row.
 */

const invalidRequest = (description: OAuthError['description']) => oauthError('invalid_request', description)
const invalidScope = (description: LocalizedText) => oauthError('invalid_scope', description)
const INVALID_CLIENT = oauthError('invalid_client', localized('client-failed'), 401)
const UNUSABLE_GRANT = oauthError('invalid_grant', localized('unusable-grant'))

const BAD_CREDENTIALS: FailureRow = { rescode: 20001, standard: INVALID_CLIENT, fix: 'credentials' }
const INVALID_GRANT: FailureRow = { rescode: 20006, standard: UNUSABLE_GRANT }
/** Rescode 20013 is a server error, but this is the caller's mistake: its native status is 400. */
const INVALID_CODE: FailureRow = {
  rescode: 20013,
  nativeStatus: 400,
  message: (code) => localized('invalid-code', { code }),
  standard: UNUSABLE_GRANT,
}
const TOO_MANY: FailureRow = {
  rescode: 20003,
  status: 429,
  standard: oauthError('temporarily_unavailable', localized('too-many-requests'), 429),
}

const byApp = (what: NonNullable<FailureRow['what']>): FailureRow => ({ rescode: 20007, byApp: true, what })
/** Both dialects say what is wrong with the parameter. */
const badParameter = (id: 'parameter-undecodable' | 'parameter-repeated' | 'parameter-missing'): FailureRow => {
  const text = (name: string) => localized(id, { name })
  return { ...byApp(text), standard: invalidRequest(text) }
}
const badForm = (what: LocalizedText): FailureRow => {
  return { rescode: 20007, what, standard: invalidRequest(what), fix: 'form' }
}
const unusableForm = (why: LocalizedText): FailureRow => ({
  rescode: 20007,
  fix: 'form',
  what: localized('consent-form', { why }),
  standard: invalidRequest(localized('consent-form', { why: localized('form-cannot-be-used') })),
})

export const OAUTH_FAILURES = {
  // The request (row 1 of A1–A5)
  method_not_allowed: { rescode: 20010, status: 405, fix: 'method' },

  // Parameters (A1 row 2; A2 rows 2, 8 and 9)
  url_too_long: { ...byApp(localized('url-too-long')), fix: 'too_long' },
  parameter_undecodable: { ...badParameter('parameter-undecodable'), fix: 'parameter' },
  parameter_repeated: { ...badParameter('parameter-repeated'), fix: 'parameter' },
  parameter_missing: { ...badParameter('parameter-missing'), fix: 'missing' },
  too_many_requests: { ...TOO_MANY, fix: 'slower' },

  // Who calls (A1 rows 4 and 5; A2 rows 3–7)
  app_unknown: { ...BAD_CREDENTIALS, fix: 'unknown_app' },
  credentials_missing: BAD_CREDENTIALS,
  credentials_wrong: BAD_CREDENTIALS,
  credentials_in_body: { rescode: 20001, message: localized('credentials-in-body'), fix: 'body' },
  basic_malformed: { rescode: 20002, standard: INVALID_CLIENT, fix: 'credentials' },
  basic_contradicts_query: { rescode: 20005, fix: 'two_ways' },
  app_not_approved: {
    rescode: 20014,
    standard: oauthError('unauthorized_client', localized('client-not-approved')),
    fix: 'suspended',
  },

  // The authorization request (A1 rows 3–12)
  response_type_unsupported: {
    rescode: 20018,
    what: (type) => type,
    standard: oauthError('unsupported_response_type', localized('response-type-code')),
    fix: 'response_type',
  },
  redirect_uri_not_absolute: {
    ...byApp((uri) => localized('redirect-uri-not-absolute', { uri })),
    fix: 'redirect_uri',
  },
  redirect_uri_not_registered: { rescode: 20012, fix: 'redirect_uri' },
  redirect_uri_not_loopback: {
    rescode: 20012,
    standard: invalidRequest(localized('redirect-uri-loopback')),
    fix: 'loopback',
  },
  redirect_uri_with_fragment: { ...byApp(localized('redirect-uri-fragment')), fix: 'redirect_uri_form' },
  redirect_uri_with_answer: { ...byApp(localized('redirect-uri-answer')), fix: 'redirect_uri_form' },
  state_malformed: { ...byApp((state) => localized('state-characters', { state })), fix: 'state' },
  state_too_long: { ...byApp((bytes) => localized('state-too-long', { bytes })), fix: 'state' },
  scope_unknown: {
    rescode: 20008,
    what: (scope) => scope || localized('empty-value'),
    standard: invalidScope(localized('scope-unknown')),
    fix: 'scope',
  },
  scope_not_held: { rescode: 20004, standard: invalidScope(localized('scope-not-for-client')), fix: 'scope_not_held' },
  code_challenge_method_unsupported: {
    ...byApp((method) => localized('challenge-method-received', { method: method || localized('none') })),
    standard: invalidRequest(localized('challenge-method')),
    fix: 'challenge',
  },
  code_challenge_malformed: {
    ...byApp((challenge) => localized('challenge-form-received', { challenge: challenge || localized('none') })),
    standard: invalidRequest(localized('challenge-form')),
    fix: 'challenge',
  },
  user_blocked: { rescode: 20016, standard: UNUSABLE_GRANT, fix: 'blocked' },
  /** Shown as a page; nothing is sent to the app. */
  app_in_development: {
    rescode: 20014,
    standard: oauthError('unauthorized_client', localized('client-in-development'), 403),
    fix: 'test_user',
  },

  // The decision on the consent form (A1 rows 13 and 14)
  form_from_another_site: unusableForm(localized('form-foreign')),
  form_without_session: unusableForm(localized('form-of-ended-session')),
  form_forged: unusableForm(localized('form-invalid')),
  form_incomplete: badForm(localized('form-incomplete')),
  form_decision_unknown: badForm(localized('decision-values')),
  form_refused_before: unusableForm(localized('form-refused')),
  form_approved_before: unusableForm(localized('form-now-withdrawn')),
  form_withdrawn_since: unusableForm(localized('form-withdrawn-since')),
  form_used_before: unusableForm(localized('form-used')),
  /** Only for the audit log: the browser goes back to the app with `state` alone. */
  user_refused: { rescode: 20019 },

  // The exchange (A2 from row 8 on)
  grant_type_unsupported: {
    rescode: 20017,
    what: (type) => type,
    standard: oauthError('unsupported_grant_type', localized('grant-type-values')),
    fix: 'grant_type',
  },
  code_forged: { ...INVALID_CODE, fix: 'code' },
  code_unknown: { ...INVALID_CODE, fix: 'code' },
  code_used: { ...INVALID_CODE, fix: 'code_used' },
  code_of_another_app: { ...INVALID_CODE, fix: 'other_app' },
  code_expired: { ...INVALID_CODE, fix: 'code_expired' },
  code_spent_meanwhile: { ...INVALID_CODE, fix: 'code_used' },
  redirect_uri_differs: { rescode: 20012, standard: UNUSABLE_GRANT, fix: 'redirect_uri_same' },
  state_differs: { rescode: 20007, what: localized('state-differs'), standard: UNUSABLE_GRANT, fix: 'state_same' },
  code_verifier_wrong: { ...INVALID_GRANT, fix: 'verifier' },
  grant_withdrawn: { ...INVALID_GRANT, fix: 'withdrawn' },

  // Refreshing (A3)
  too_many_refreshes: { ...TOO_MANY, fix: 'fewer_refreshes' },
  refresh_token_forged: { ...INVALID_GRANT, fix: 'refresh_token' },
  refresh_token_unknown: { ...INVALID_GRANT, fix: 'refresh_token' },
  refresh_token_revoked: { ...INVALID_GRANT, fix: 'withdrawn' },
  refresh_token_rotated: { ...INVALID_GRANT, fix: 'rotated' },
  refresh_token_reused: { ...INVALID_GRANT, fix: 'rotated' },
  refresh_answer_gone: { ...INVALID_GRANT, fix: 'rotated' },
  refresh_token_expired: { rescode: 20021, standard: UNUSABLE_GRANT, fix: 'withdrawn' },
  scope_beyond_grant: { rescode: 20008, standard: invalidScope(localized('scope-beyond-grant')), fix: 'narrower' },
  no_scope_left: { rescode: 20004, standard: invalidScope(localized('no-scope-left')), fix: 'scope_not_held' },

  // Operators
  grant_unknown: { rescode: 20007, status: 404, what: localized('no-grant') },
} as const satisfies Readonly<Record<string, FailureRow>>

export const oauthFailure = failureFactory<keyof typeof OAUTH_FAILURES>(OAUTH_FAILURES)
