import type { OutputOf } from '../../platform/lib/json/input.ts'
import type { Translate } from '../../platform/lib/web/locale.ts'
import { checkText, type RefusedRow, refusingCheckOf } from '../refusals/index.ts'
import type { showMicroApp } from '../registry/index.ts'

/** How to fix a refused request: text → names of the failures that it explains. */
const FIXES: Readonly<Record<string, readonly string[]>> = {
  'developer.fix.credentials': [
    'credentials_missing',
    'credentials_wrong',
    'basic_malformed',
    'client_authentication_missing',
  ],
  'developer.fix.body': ['credentials_in_body', 'parameters_in_body'],
  'developer.fix.query': ['parameters_in_query'],
  'developer.fix.media_type': ['body_of_another_type'],
  'developer.fix.unknown_app': ['app_unknown', 'client_unknown'],
  'developer.fix.other_id': ['client_id_differs'],
  'developer.fix.assertion': ['assertion_unusable'],
  'developer.fix.assertion_key': ['assertion_key_unknown'],
  'developer.fix.assertion_aud': ['assertion_for_another'],
  'developer.fix.clock': ['assertion_out_of_time'],
  'developer.fix.assertion_once': ['assertion_used'],
  'developer.fix.two_ways': ['basic_contradicts_query', 'client_authentication_twice'],
  'developer.fix.kind': ['client_authentication_unsupported', 'client_is_public'],
  'developer.fix.suspended': ['app_not_approved'],
  'developer.fix.test_user': ['app_in_development'],
  'developer.fix.redirect_uri': ['redirect_uri_not_absolute', 'redirect_uri_not_registered', 'redirect_uri_unknown'],
  'developer.fix.redirect_uri_form': ['redirect_uri_with_fragment', 'redirect_uri_with_answer'],
  'developer.fix.loopback': ['redirect_uri_not_loopback'],
  'developer.fix.redirect_uri_same': ['redirect_uri_differs'],
  'developer.fix.state': ['state_malformed', 'state_too_long'],
  'developer.fix.state_same': ['state_differs'],
  'developer.fix.scope': ['scope_unknown'],
  'developer.fix.scope_not_held': ['scope_not_held', 'token_lacks_scope', 'app_lost_scope', 'no_scope_left'],
  'developer.fix.response_type': ['response_type_unsupported'],
  'developer.fix.grant_type': ['grant_type_unsupported'],
  'developer.fix.missing': ['parameter_missing'],
  'developer.fix.parameter': ['parameter_repeated', 'parameter_undecodable', 'parameter_malformed'],
  'developer.fix.bearer': ['access_token_missing'],
  'developer.fix.token_once': ['access_token_twice'],
  'developer.fix.too_long': ['url_too_long', 'request_too_long'],
  'developer.fix.prompt': ['prompt_contradictory'],
  'developer.fix.unsupported': ['request_object', 'request_uri_foreign', 'registration'],
  'developer.fix.pushed': ['request_uri_unusable'],
  'developer.fix.logout_uri': ['logout_client_missing', 'post_logout_uri_unknown'],
  'developer.fix.form': [
    'continuation_unusable',
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
  'developer.fix.method': ['method_not_allowed'],
  'developer.fix.code': ['code_forged', 'code_unknown'],
  'developer.fix.code_used': ['code_used', 'code_spent_meanwhile'],
  'developer.fix.code_expired': ['code_expired'],
  'developer.fix.other_app': ['code_of_another_app'],
  'developer.fix.verifier': ['code_verifier_wrong'],
  'developer.fix.challenge': ['challenge_missing', 'code_challenge_malformed', 'code_challenge_method_unsupported'],
  'developer.fix.withdrawn': ['grant_withdrawn', 'refresh_token_revoked', 'refresh_token_expired', 'token_revoked'],
  'developer.fix.refresh_token': ['refresh_token_forged', 'refresh_token_unknown'],
  'developer.fix.rotated': ['refresh_token_rotated', 'refresh_token_reused', 'refresh_answer_gone'],
  'developer.fix.narrower': ['scope_beyond_grant'],
  'developer.fix.access_token': ['token_forged', 'token_unknown'],
  'developer.fix.expired': ['token_expired', 'token_ended_early'],
  'developer.fix.no_phone': ['no_phone_number'],
  'developer.fix.blocked': ['user_blocked'],
  'developer.fix.slower': ['too_many_requests'],
  'developer.fix.fewer_refreshes': ['too_many_refreshes'],
}
const FIX_OF: ReadonlyMap<string, string> = new Map(
  Object.entries(FIXES).flatMap(([text, failures]) => failures.map((failure) => [failure, text])),
)

/** A token of the wrong kind, by failure and token prefix. */
const WRONG_KIND: Readonly<Record<string, string>> = {
  'token_forged ghrt': 'developer.fix.refresh_as_access',
  'refresh_token_forged ghat': 'developer.fix.access_as_refresh',
}
/** Rescode of server errors, which have no failure name. */
const SERVER_ERROR = 20013

type Refused = Pick<RefusedRow, 'failure' | 'detail' | 'rescode' | 'token'>

/** Key of the text that says how to fix it. */
export function fixKeyOf({ failure, rescode, token }: Refused): string {
  if (failure === null) return rescode === SERVER_ERROR ? 'developer.fix.ours' : 'developer.fix.other'
  return WRONG_KIND[`${failure} ${token?.slice(0, 4)}`] ?? FIX_OF.get(failure) ?? 'developer.fix.other'
}

const fixOf = (refused: Refused, t: Translate): string =>
  t(fixKeyOf(refused), { name: refused.detail ?? 'access_token' })

type App = Pick<OutputOf<typeof showMicroApp>, 'redirect_uris' | 'hosts' | 'scopes' | 'token_auth_methods'>

/** Registered values for this parameter, to be shown next to the one that was sent. */
function registeredValues(name: string, { redirect_uris, hosts, scopes, token_auth_methods }: App): readonly string[] {
  if (name === 'redirect_uri') {
    // A public client cannot use hosts.
    return redirect_uris.length > 0 || token_auth_methods.includes('none') ? redirect_uris : hosts
  }
  return name === 'scope' ? scopes : []
}

/** Why a request was or would be refused: the failed check, sent and registered values, how to fix it. */
export function reasonOf(refused: RefusedRow, app: App | undefined, t: Translate) {
  const { endpoint, rescode, failure, received } = refused
  const failed = refusingCheckOf(refused)
  return {
    endpoint,
    rescode,
    failure,
    row: failed?.row ?? null,
    check: failed ? checkText(failed.check, t.locale) : null,
    compared: Object.entries(received ?? {}).map(([name, sent]) => ({
      name,
      sent,
      known: app ? registeredValues(name, app) : [],
    })),
    fix: fixOf(refused, t),
  }
}
