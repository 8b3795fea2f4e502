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

const BAD_CREDENTIALS: FailureRow = { rescode: 20001, standard: INVALID_CLIENT }
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
const badForm = (what: LocalizedText): FailureRow => ({ rescode: 20007, what, standard: invalidRequest(what) })
const unusableForm = (why: LocalizedText): FailureRow => ({
  rescode: 20007,
  what: localized('consent-form', { why }),
  standard: invalidRequest(localized('consent-form', { why: localized('form-cannot-be-used') })),
})

export const OAUTH_FAILURES = {
  // The request (row 1 of A1–A5)
  method_not_allowed: { rescode: 20010, status: 405 },

  // Parameters (A1 row 2; A2 rows 2, 8 and 9)
  url_too_long: byApp(localized('url-too-long')),
  parameter_undecodable: badParameter('parameter-undecodable'),
  parameter_repeated: badParameter('parameter-repeated'),
  parameter_missing: badParameter('parameter-missing'),
  too_many_requests: TOO_MANY,

  // Who calls (A1 rows 4 and 5; A2 rows 3–7)
  app_unknown: BAD_CREDENTIALS,
  credentials_missing: BAD_CREDENTIALS,
  credentials_wrong: BAD_CREDENTIALS,
  credentials_in_body: { rescode: 20001, message: localized('credentials-in-body') },
  basic_malformed: { rescode: 20002, standard: INVALID_CLIENT },
  basic_contradicts_query: { rescode: 20005 },
  app_not_approved: { rescode: 20014, standard: oauthError('unauthorized_client', localized('client-not-approved')) },

  // The authorization request (A1 rows 3–12)
  response_type_unsupported: {
    rescode: 20018,
    what: (type) => type,
    standard: oauthError('unsupported_response_type', localized('response-type-code')),
  },
  redirect_uri_not_absolute: byApp((uri) => localized('redirect-uri-not-absolute', { uri })),
  redirect_uri_not_registered: { rescode: 20012 },
  redirect_uri_not_loopback: { rescode: 20012, standard: invalidRequest(localized('redirect-uri-loopback')) },
  redirect_uri_with_fragment: byApp(localized('redirect-uri-fragment')),
  redirect_uri_with_answer: byApp(localized('redirect-uri-answer')),
  state_malformed: byApp((state) => localized('state-characters', { state })),
  state_too_long: byApp((bytes) => localized('state-too-long', { bytes })),
  scope_unknown: {
    rescode: 20008,
    what: (scope) => scope || localized('empty-value'),
    standard: invalidScope(localized('scope-unknown')),
  },
  scope_not_held: { rescode: 20004, standard: invalidScope(localized('scope-not-for-client')) },
  code_challenge_method_unsupported: {
    ...byApp((method) => localized('challenge-method-received', { method: method || localized('none') })),
    standard: invalidRequest(localized('challenge-method')),
  },
  code_challenge_malformed: {
    ...byApp((challenge) => localized('challenge-form-received', { challenge: challenge || localized('none') })),
    standard: invalidRequest(localized('challenge-form')),
  },
  user_blocked: { rescode: 20016, standard: UNUSABLE_GRANT },
  /** Shown as a page; nothing is sent to the app. */
  app_in_development: {
    rescode: 20014,
    standard: oauthError('unauthorized_client', localized('client-in-development'), 403),
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
  },
  code_forged: INVALID_CODE,
  code_unknown: INVALID_CODE,
  code_used: INVALID_CODE,
  code_of_another_app: INVALID_CODE,
  code_expired: INVALID_CODE,
  code_spent_meanwhile: INVALID_CODE,
  redirect_uri_differs: { rescode: 20012, standard: UNUSABLE_GRANT },
  state_differs: { rescode: 20007, what: localized('state-differs'), standard: UNUSABLE_GRANT },
  code_verifier_wrong: INVALID_GRANT,
  grant_withdrawn: INVALID_GRANT,

  // Refreshing (A3)
  too_many_refreshes: TOO_MANY,
  refresh_token_forged: INVALID_GRANT,
  refresh_token_unknown: INVALID_GRANT,
  refresh_token_revoked: INVALID_GRANT,
  refresh_token_rotated: INVALID_GRANT,
  refresh_token_reused: INVALID_GRANT,
  refresh_answer_gone: INVALID_GRANT,
  refresh_token_expired: { rescode: 20021, standard: UNUSABLE_GRANT },
  scope_beyond_grant: { rescode: 20008, standard: invalidScope(localized('scope-beyond-grant')) },
  no_scope_left: { rescode: 20004, standard: invalidScope(localized('no-scope-left')) },

  // Operators
  grant_unknown: { rescode: 20007, status: 404, what: localized('no-grant') },
} as const satisfies Readonly<Record<string, FailureRow>>

export const oauthFailure = failureFactory<keyof typeof OAUTH_FAILURES>(OAUTH_FAILURES)
