import { equalSecrets } from '../../platform/lib/crypto/keys.ts'
import { readBasic } from '../../platform/lib/web/basic-credentials.ts'
import { oauthFailure, type Parameters, verifyCredentials } from '../oauth/index.ts'
import { type CallingApp, findMicroAppForAuthentication } from '../registry/index.ts'
import { type ClientDeps, verifyAssertion } from './client-assertion.ts'
import { oidcFailure } from './failures.ts'
import { clientForm, namesOf } from './messages.ts'

/** The parameters by which clients identify and authenticate themselves. */
export const CLIENT_PARAMETERS = namesOf(clientForm)

export interface ClientCall {
  readonly parameters: Parameters
  readonly authorization: string | undefined
  readonly address: string
}

export interface Client {
  readonly app: CallingApp
  /** Not authenticated: it has only said who it is. */
  readonly isPublic: boolean
}

/** Authenticates the calling app, which must be approved, by a method registered for it (RFC 6749 §2.3, §3.2.1). */
export async function authenticateClient(deps: ClientDeps, call: ClientCall): Promise<Client> {
  const client = await identify(deps, call)
  if (client.app.status !== 'approved') throw oauthFailure('app_not_approved', { detail: client.app.status })
  return client
}

async function identify(deps: ClientDeps, { parameters, authorization, address }: ClientCall): Promise<Client> {
  const inHeader = readBasic(authorization)
  // An empty secret counts as none, in the header as in the form (RFC 6749 §2.3.1): only the client_id is left.
  const isNameOnly = inHeader !== undefined && inHeader !== 'malformed' && inHeader.appSecrets.length === 0
  const named = parameters.get('client_id')
  if (isNameOnly && named !== undefined && named !== inHeader.appKey) throw oidcFailure('client_id_differs')
  const clientId = isNameOnly ? inHeader.appKey : named
  const basic = isNameOnly ? undefined : inHeader
  const secret = parameters.get('client_secret')
  const hasAssertion = parameters.has('client_assertion') || parameters.has('client_assertion_type')
  const methods = [basic, secret, hasAssertion || undefined].filter((method) => method !== undefined)
  if (methods.length > 1) throw oidcFailure('client_authentication_twice')
  if (hasAssertion) return allowed(await verifyAssertion(deps, parameters), 'private_key_jwt')
  if (basic === 'malformed') throw oauthFailure('basic_malformed')
  if (basic) {
    if (clientId !== undefined && !equalSecrets(clientId, basic.appKey)) throw oidcFailure('client_id_differs')
    return allowed(await verifyCredentials(deps, basic, address), 'client_secret_basic')
  }
  if (clientId === undefined) throw oidcFailure('client_authentication_missing')
  if (secret !== undefined) {
    const credentials = { appKey: clientId, appSecrets: [secret] }
    return allowed(await verifyCredentials(deps, credentials, address), 'client_secret_post')
  }
  const app = await findMicroAppForAuthentication(deps, clientId)
  if (!app) throw oidcFailure('client_authentication_missing')
  return allowed(app, 'none')
}

/** A method that the app is not registered for is refused like a wrong secret. */
function allowed(app: CallingApp, method: CallingApp['token_auth_methods'][number]): Client {
  if (!app.token_auth_methods.includes(method))
    throw oidcFailure('client_authentication_unsupported', { detail: method })
  return { app, isPublic: method === 'none' }
}

/** For endpoints that public clients may not use, since anybody can claim to be one. */
export function refusePublic({ app, isPublic }: Client): CallingApp {
  if (isPublic) throw oidcFailure('client_is_public')
  return app
}
