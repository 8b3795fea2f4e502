import type { FailureRow } from '../../platform/lib/failure.ts'
import type { OutputOf } from '../../platform/lib/json/input.ts'
import type { Translate } from '../../platform/lib/web/locale.ts'
import { OAUTH_FAILURES } from '../oauth/index.ts'
import { OIDC_FAILURES } from '../oidc/index.ts'
import { checkText, type RefusedRow, refusingCheckOf } from '../refusals/index.ts'
import type { showMicroApp } from '../registry/index.ts'
import { RESOURCE_FAILURES } from '../resource/index.ts'

/** Every failure of area A; the last three are of requests in the wrong form (src/platform/lib/web). */
const FAILURES: Readonly<Record<string, Partial<FailureRow>>> = {
  ...OAUTH_FAILURES,
  ...OIDC_FAILURES,
  ...RESOURCE_FAILURES,
  parameters_in_body: { fix: 'body' },
  parameters_in_query: { fix: 'query' },
  body_of_another_type: { fix: 'media_type' },
}

/** A token of the wrong kind, by failure and token prefix. */
const WRONG_KIND: Readonly<Record<string, string>> = {
  'token_forged ghrt': 'refresh_as_access',
  'refresh_token_forged ghat': 'access_as_refresh',
}
/** Rescode of server errors, which have no failure name. */
const SERVER_ERROR = 20013

type Refused = Pick<RefusedRow, 'failure' | 'detail' | 'rescode' | 'token'>

/** Key of the text that says how to fix it. */
export function fixKeyOf({ failure, rescode, token }: Refused): string {
  if (failure === null) return rescode === SERVER_ERROR ? 'developer.fix.ours' : 'developer.fix.other'
  const wrongKind = WRONG_KIND[`${failure} ${token?.slice(0, 4)}`]
  return `developer.fix.${wrongKind ?? FAILURES[failure]?.fix ?? 'other'}`
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
