import type { OutputOf } from '../../platform/lib/json/input.ts'
import type { Translate } from '../../platform/lib/web/locale.ts'
import { checkText, type RefusedRow, refusingCheckOf } from '../refusals/index.ts'
import type { showMicroApp } from '../registry/index.ts'

/** How to fix a refused request: text → names of the failures that it explains. */
const FIXES: Readonly<Record<string, readonly string[]>> = {
  'developer.mend.credentials': [
    'credentials_missing',
    'credentials_wrong',
    'basic_malformed',
    'client_authentication_missing',
  ],
  'developer.mend.body': ['credentials_in_body', 'parameters_in_body'],
  'developer.mend.query': ['parameters_in_query'],
  'developer.mend.media_type': ['body_of_another_type'],
  'developer.mend.unknown_app': ['app_unknown', 'client_unknown'],
  'developer.mend.other_id': ['client_id_differs'],
  'developer.mend.assertion': ['assertion_unusable'],
  'developer.mend.assertion_key': ['assertion_key_unknown'],
  'developer.mend.assertion_aud': ['assertion_for_another'],
  'developer.mend.clock': ['assertion_out_of_time'],
  'developer.mend.assertion_once': ['assertion_used'],
  'developer.mend.two_ways': ['basic_contradicts_query', 'client_authentication_twice'],
  'developer.mend.kind': ['client_authentication_unsupported', 'client_is_public'],
  'developer.mend.suspended': ['app_not_approved'],
  'developer.mend.test_user': ['app_in_development'],
  'developer.mend.redirect_uri': ['redirect_uri_not_absolute', 'redirect_uri_not_registered', 'redirect_uri_unknown'],
  'developer.mend.redirect_uri_form': ['redirect_uri_with_fragment', 'redirect_uri_with_answer'],
  'developer.mend.loopback': ['redirect_uri_not_loopback'],
  'developer.mend.redirect_uri_same': ['redirect_uri_differs'],
  'developer.mend.state': ['state_malformed', 'state_too_long'],
  'developer.mend.state_same': ['state_differs'],
  'developer.mend.scope': ['scope_unknown'],
  'developer.mend.scope_not_held': ['scope_not_held', 'token_lacks_scope', 'app_lost_scope', 'no_scope_left'],
  'developer.mend.response_type': ['response_type_unsupported'],
  'developer.mend.grant_type': ['grant_type_unsupported'],
  'developer.mend.missing': ['parameter_missing'],
  'developer.mend.parameter': ['parameter_repeated', 'parameter_undecodable', 'parameter_malformed'],
  'developer.mend.bearer': ['access_token_missing'],
  'developer.mend.token_once': ['access_token_twice'],
  'developer.mend.too_long': ['url_too_long', 'request_too_long'],
  'developer.mend.prompt': ['prompt_contradictory'],
  'developer.mend.unsupported': ['request_object', 'request_uri_foreign', 'registration'],
  'developer.mend.pushed': ['request_uri_unusable'],
  'developer.mend.logout_uri': ['logout_client_missing', 'post_logout_uri_unknown'],
  'developer.mend.form': [
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
  'developer.mend.method': ['method_not_allowed'],
  'developer.mend.code': ['code_forged', 'code_unknown'],
  'developer.mend.code_used': ['code_used', 'code_spent_meanwhile'],
  'developer.mend.code_expired': ['code_expired'],
  'developer.mend.other_app': ['code_of_another_app'],
  'developer.mend.verifier': ['code_verifier_wrong'],
  'developer.mend.challenge': ['challenge_missing', 'code_challenge_malformed', 'code_challenge_method_unsupported'],
  'developer.mend.withdrawn': ['grant_withdrawn', 'refresh_token_revoked', 'refresh_token_expired', 'token_revoked'],
  'developer.mend.refresh_token': ['refresh_token_forged', 'refresh_token_unknown'],
  'developer.mend.rotated': ['refresh_token_rotated', 'refresh_token_reused', 'refresh_answer_gone'],
  'developer.mend.narrower': ['scope_beyond_grant'],
  'developer.mend.access_token': ['token_forged', 'token_unknown'],
  'developer.mend.expired': ['token_expired', 'token_ended_early'],
  'developer.mend.no_phone': ['no_phone_number'],
  'developer.mend.blocked': ['user_blocked'],
  'developer.mend.slower': ['too_many_requests'],
  'developer.mend.fewer_refreshes': ['too_many_refreshes'],
}
const FIX_OF: ReadonlyMap<string, string> = new Map(
  Object.entries(FIXES).flatMap(([text, failures]) => failures.map((failure) => [failure, text])),
)

/** A token of the wrong kind, by failure and token prefix. */
const WRONG_KIND: Readonly<Record<string, string>> = {
  'token_forged ghrt': 'developer.mend.refresh_as_access',
  'refresh_token_forged ghat': 'developer.mend.access_as_refresh',
}
/** Rescode of server errors, which have no failure name. */
const SERVER_ERROR = 20013

type Refused = Pick<RefusedRow, 'failure' | 'detail' | 'rescode' | 'token'>

/** Key of the text that says how to fix it. */
export function fixKeyOf({ failure, rescode, token }: Refused): string {
  if (failure === null) return rescode === SERVER_ERROR ? 'developer.mend.ours' : 'developer.mend.other'
  return WRONG_KIND[`${failure} ${token?.slice(0, 4)}`] ?? FIX_OF.get(failure) ?? 'developer.mend.other'
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
    mend: fixOf(refused, t),
  }
}
