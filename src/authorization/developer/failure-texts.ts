import type { OutputOf } from '../../platform/lib/json/input.ts'
import type { Translate } from '../../platform/lib/web/locale.ts'
import { checkText, type RefusedRow, refusingCheckOf } from '../refusals/index.ts'
import type { showMicroApp } from '../registry/index.ts'

/** How the developer of an app fixes what was refused, by the name of the failure. */

const REDIRECT = 'developer.mend.redirect_uri'
const CREDENTIALS = 'developer.mend.credentials'
const CODE = 'developer.mend.code'
const REFRESH = 'developer.mend.refresh_token'
const TOKEN = 'developer.mend.access_token'
const PARAMETER = 'developer.mend.parameter'
const UNSUPPORTED = 'developer.mend.unsupported'
const LOGOUT_URI = 'developer.mend.logout_uri'
const FORM = 'developer.mend.form'

const MENDS: Readonly<Record<string, string>> = {
  credentials_missing: CREDENTIALS,
  credentials_wrong: CREDENTIALS,
  credentials_in_body: 'developer.mend.body',
  parameters_in_body: 'developer.mend.body',
  parameters_in_query: 'developer.mend.query',
  body_of_another_type: 'developer.mend.media_type',
  app_unknown: 'developer.mend.unknown_app',
  client_unknown: 'developer.mend.unknown_app',
  client_id_differs: 'developer.mend.other_id',
  assertion_unusable: 'developer.mend.assertion',
  assertion_key_unknown: 'developer.mend.assertion_key',
  assertion_for_another: 'developer.mend.assertion_aud',
  assertion_out_of_time: 'developer.mend.clock',
  assertion_used: 'developer.mend.assertion_once',
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
  parameter_missing: 'developer.mend.missing',
  parameter_repeated: PARAMETER,
  parameter_undecodable: PARAMETER,
  parameter_malformed: PARAMETER,
  access_token_missing: 'developer.mend.bearer',
  access_token_twice: 'developer.mend.token_once',
  url_too_long: 'developer.mend.too_long',
  request_too_long: 'developer.mend.too_long',
  prompt_contradictory: 'developer.mend.prompt',
  request_object: UNSUPPORTED,
  request_uri_foreign: UNSUPPORTED,
  registration: UNSUPPORTED,
  request_uri_unusable: 'developer.mend.pushed',
  logout_client_missing: LOGOUT_URI,
  post_logout_uri_unknown: LOGOUT_URI,
  continuation_unusable: FORM,
  form_from_another_site: FORM,
  form_without_session: FORM,
  form_forged: FORM,
  form_incomplete: FORM,
  form_decision_unknown: FORM,
  form_refused_before: FORM,
  form_approved_before: FORM,
  form_withdrawn_since: FORM,
  form_used_before: FORM,
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
  refresh_answer_gone: 'developer.mend.rotated',
  scope_beyond_grant: 'developer.mend.narrower',
  token_forged: TOKEN,
  token_unknown: TOKEN,
  token_expired: 'developer.mend.expired',
  token_ended_early: 'developer.mend.expired',
  token_revoked: 'developer.mend.withdrawn',
  no_phone_number: 'developer.mend.no_phone',
  user_blocked: 'developer.mend.blocked',
  too_many_requests: 'developer.mend.slower',
}

/** A token of another kind than is wanted, by the failure and by how it begins. */
const OF_ANOTHER_KIND: Readonly<Record<string, string>> = {
  'token_forged ghrt': 'developer.mend.refresh_as_access',
  'refresh_token_forged ghat': 'developer.mend.access_as_refresh',
}
/** A fault of ours has no name. */
const OURS = 20013

type Refused = Pick<RefusedRow, 'failure' | 'detail' | 'rescode' | 'token'>

/** The id of the text. */
export function mendIdOf({ failure, rescode, token }: Refused): string {
  if (failure === null) return rescode === OURS ? 'developer.mend.ours' : 'developer.mend.other'
  return OF_ANOTHER_KIND[`${failure} ${token?.slice(0, 4)}`] ?? MENDS[failure] ?? 'developer.mend.other'
}

const mendOf = (refused: Refused, t: Translate): string =>
  t(mendIdOf(refused), { name: refused.detail ?? 'access_token' })

type App = Pick<OutputOf<typeof showMicroApp>, 'redirect_uris' | 'hosts' | 'scopes'>

/** Beside what was sent, what is registered for the same parameter. */
function registered(name: string, { redirect_uris, hosts, scopes }: App): readonly string[] {
  if (name === 'redirect_uri') return redirect_uris.length > 0 ? redirect_uris : hosts
  return name === 'scope' ? scopes : []
}

/** Why a request was refused, or would be: which check, what was received beside what is registered, how to fix it. */
export function reasonOf(refused: RefusedRow, app: App | undefined, t: Translate) {
  const { endpoint, rescode, failure, received } = refused
  const found = refusingCheckOf(refused)
  return {
    endpoint,
    rescode,
    failure,
    row: found?.row ?? null,
    check: found ? checkText(found.check, t.locale) : null,
    compared: Object.entries(received ?? {}).map(([name, sent]) => ({
      name,
      sent,
      known: app ? registered(name, app) : [],
    })),
    mend: mendOf(refused, t),
  }
}
