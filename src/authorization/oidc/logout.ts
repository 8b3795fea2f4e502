import type { Query } from '../../platform/lib/web/request-target.ts'
import { withResponseParameters } from '../oauth/index.ts'
import { findMicroAppForAuthentication } from '../registry/index.ts'
import { malformed, oidcFailure } from './failures.ts'
import { type OidcDeps, readHint } from './id-token.ts'
import { logoutQuery, namesOf } from './messages.ts'
import { isRegistered } from './redirect-uri.ts'
import { readKnown, refuseTooLong } from './wire.ts'

const LOGOUT_PARAMETERS = namesOf(logoutQuery)
const LONGEST = { id_token_hint: 4_096, state: 1_024 } as const

/** OIDC RP-Initiated Logout §2. `next`: where the browser goes afterwards; `query`: the known parameters. */
export async function checkLogout(deps: OidcDeps, query: Query) {
  const parameters = readKnown(query, LOGOUT_PARAMETERS)
  refuseTooLong(parameters, LONGEST)
  const text = parameters.get('id_token_hint')
  const hint = text === undefined ? undefined : await readHint(deps, text)
  if (text !== undefined && !hint) throw malformed('id_token_hint')
  const clientId = parameters.get('client_id') ?? hint?.aud
  if (hint && hint.aud !== clientId) throw oidcFailure('client_id_differs')
  const app = clientId === undefined ? undefined : await findMicroAppForAuthentication(deps, clientId)
  if (clientId !== undefined && !app) throw oidcFailure('client_unknown')
  const target = parameters.get('post_logout_redirect_uri')
  if (target !== undefined && !app) throw oidcFailure('logout_client_missing')
  if (target !== undefined && !isRegistered(app?.post_logout_uris ?? [], target))
    throw oidcFailure('post_logout_uri_unknown')
  const state = parameters.get('state')
  const next = target === undefined ? undefined : withResponseParameters(target, state === undefined ? {} : { state })
  return { app, next, query: new URLSearchParams([...parameters]).toString() }
}
