import type { Actor } from '../../platform/deps.ts'
import { secondsLeft } from '../../platform/lib/clock.ts'
import { standardNames, withContractScopes } from '../../platform/lib/scope.ts'
import {
  AUTHORIZATION_CODE,
  describeRefreshToken,
  type IssuedTokens,
  oauthFailure,
  type Parameters,
  refreshTokens,
  required,
  type TokenDeps,
} from '../oauth/index.ts'
import type { CallingApp } from '../registry/index.ts'
import { knownScopes } from './authorize.ts'
import type { Client } from './client.ts'
import type { ClientDeps } from './client-assertion.ts'
import { ID_TOKEN_SCOPE, issueIdToken, type OidcDeps } from './id-token.ts'
import { clientForm, exchangeForm, namesOf, refreshForm, type TokenResponse } from './messages.ts'

export const TOKEN_PARAMETERS = [clientForm, exchangeForm, refreshForm].flatMap(namesOf)

export type EndpointDeps = OidcDeps & ClientDeps & TokenDeps

const REFRESH_SCOPE = 'offline_access'

type Answer = (deps: EndpointDeps, client: Client, actor: Actor, parameters: Parameters) => Promise<TokenResponse>

/** RFC 6749 §4.1.3 and §6: tokens for a code or a refresh token. */
export const answerStandardTokenRequest: Answer = async (deps, client, actor, parameters) => {
  const grantType = required(parameters, 'grant_type')
  const answer = GRANT_TYPES.get(grantType)
  if (!answer) throw oauthFailure('grant_type_unsupported', { value: grantType })
  return answer(deps, client, actor, parameters)
}

/** Found beforehand: if it is needed and there is none, a code or refresh token must not be used up. */
async function findSigner({ signingKeys }: OidcDeps, { id_token_alg }: CallingApp, isNeeded: () => Promise<boolean>) {
  try {
    return await signingKeys.signer(id_token_alg)
  } catch (error) {
    if (await isNeeded()) throw error
    return undefined
  }
}

const exchange: Answer = async (deps, { app, isPublic }, actor, parameters) => {
  const signer = await findSigner(deps, app, () =>
    AUTHORIZATION_CODE.mayBringScope(deps, parameters.get('code') ?? '', ID_TOKEN_SCOPE),
  )
  // A public client must send a verifier, which a code without a challenge never matches.
  const codeVerifier = isPublic ? required(parameters, 'code_verifier') : parameters.get('code_verifier')
  const issued = await AUTHORIZATION_CODE.exchange(
    deps,
    { app, actor },
    {
      code: required(parameters, 'code'),
      redirectUri: required(parameters, 'redirect_uri'),
      state: parameters.get('state') ?? null,
      codeVerifier,
      refreshScope: REFRESH_SCOPE,
      withSignIn: true,
    },
  )
  const idToken = await issueIdToken(deps, app, issued, { signer, withNonce: true })
  return tokenResponseOf(issued, issued.scopes.includes(REFRESH_SCOPE), idToken)
}

const refresh: Answer = async (deps, { app, isPublic }, actor, parameters) => {
  const scopes = knownScopes(parameters)
  if (scopes.length === 0 && parameters.get('scope')) throw oauthFailure('scope_unknown')
  const signer = await findSigner(deps, app, async () => {
    if (scopes.length > 0) return scopes.includes(ID_TOKEN_SCOPE)
    const described = await describeRefreshToken(deps, app, parameters.get('refresh_token') ?? '')
    return described?.scopes.includes(ID_TOKEN_SCOPE) ?? false
  })
  const issued = await refreshTokens(deps, { app, actor, isPublic }, () => ({
    refreshToken: required(parameters, 'refresh_token'),
    policy: 'rotating',
    ...(scopes.length > 0 ? { scopes: withContractScopes(scopes) } : {}),
  }))
  const idToken = await issueIdToken(deps, app, issued, { signer, withNonce: false })
  return tokenResponseOf(issued, true, idToken)
}

const GRANT_TYPES = new Map([
  ['authorization_code', exchange],
  ['refresh_token', refresh],
])

const tokenResponseOf = (
  { accessToken, refreshToken, scopes, issuedAt }: IssuedTokens,
  withRefreshToken: boolean,
  idToken: string | undefined,
): TokenResponse => ({
  access_token: accessToken.text,
  token_type: 'Bearer',
  expires_in: secondsLeft(accessToken.expiresAt, issuedAt),
  scope: standardNames(scopes).join(' '),
  ...(withRefreshToken ? { refresh_token: refreshToken.text } : {}),
  ...(idToken ? { id_token: idToken } : {}),
})
