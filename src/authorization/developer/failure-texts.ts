import type { Translate } from '../../platform/lib/web/locale.ts'

/** How the developer of an app fixes what was refused, by the name of the failure. */

const REDIRECT = 'developer.mend.redirect_uri'
const CREDENTIALS = 'developer.mend.credentials'
const CODE = 'developer.mend.code'
const REFRESH = 'developer.mend.refresh_token'
const TOKEN = 'developer.mend.access_token'
const PARAMETER = 'developer.mend.parameter'

const MENDS: Readonly<Record<string, string>> = {
  credentials_missing: CREDENTIALS,
  credentials_wrong: CREDENTIALS,
  credentials_in_body: 'developer.mend.body',
  basic_malformed: CREDENTIALS,
  basic_contradicts_query: 'developer.mend.two_ways',
  client_authentication_twice: 'developer.mend.two_ways',
  client_authentication_missing: CREDENTIALS,
  client_authentication_unsupported: 'developer.mend.kind',
  client_is_public: 'developer.mend.kind',
  app_not_approved: 'developer.mend.suspended',
  app_in_development: 'developer.mend.test_user',
  redirect_uri_not_absolute: REDIRECT,
  redirect_uri_not_registered: REDIRECT,
  redirect_uri_unknown: REDIRECT,
  redirect_uri_with_fragment: 'developer.mend.redirect_uri_form',
  redirect_uri_with_answer: 'developer.mend.redirect_uri_form',
  redirect_uri_not_loopback: 'developer.mend.loopback',
  redirect_uri_differs: 'developer.mend.redirect_uri_same',
  state_malformed: 'developer.mend.state',
  state_too_long: 'developer.mend.state',
  state_differs: 'developer.mend.state_same',
  scope_unknown: 'developer.mend.scope',
  scope_not_held: 'developer.mend.scope_not_held',
  token_lacks_scope: 'developer.mend.scope_not_held',
  app_lost_scope: 'developer.mend.scope_not_held',
  no_scope_left: 'developer.mend.scope_not_held',
  response_type_unsupported: 'developer.mend.response_type',
  grant_type_unsupported: 'developer.mend.grant_type',
  parameter_missing: PARAMETER,
  parameter_repeated: PARAMETER,
  parameter_undecodable: PARAMETER,
  parameter_malformed: PARAMETER,
  access_token_missing: PARAMETER,
  method_not_allowed: 'developer.mend.method',
  code_forged: CODE,
  code_unknown: CODE,
  code_used: 'developer.mend.code_used',
  code_expired: 'developer.mend.code_expired',
  code_spent_meanwhile: 'developer.mend.code_used',
  code_of_another_app: 'developer.mend.other_app',
  code_verifier_wrong: 'developer.mend.verifier',
  challenge_missing: 'developer.mend.challenge',
  code_challenge_malformed: 'developer.mend.challenge',
  code_challenge_method_unsupported: 'developer.mend.challenge',
  grant_withdrawn: 'developer.mend.withdrawn',
  refresh_token_forged: REFRESH,
  refresh_token_unknown: REFRESH,
  refresh_token_revoked: 'developer.mend.withdrawn',
  refresh_token_rotated: 'developer.mend.rotated',
  refresh_token_reused: 'developer.mend.rotated',
  refresh_token_expired: 'developer.mend.withdrawn',
  token_forged: TOKEN,
  token_unknown: TOKEN,
  token_expired: 'developer.mend.expired',
  token_ended_early: 'developer.mend.expired',
  token_revoked: 'developer.mend.withdrawn',
  no_phone_number: 'developer.mend.no_phone',
  user_blocked: 'developer.mend.blocked',
  too_many_requests: 'developer.mend.slower',
}

export const mendOf = (failure: string | null, t: Translate): string =>
  t(MENDS[failure ?? ''] ?? 'developer.mend.other')
