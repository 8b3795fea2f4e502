import type { CallingApp } from '../registry/index.ts'
import { type ExchangeInput, exchangeCode } from './exchange.ts'
import { refuse } from './failures.ts'
import { type RefreshDeps, refreshTokens } from './refresh.ts'
import { type Parameters, required, type TokenSet, tokenSet } from './wire.ts'

/** A2 row 8: which of the two grants the authenticated app asks for. */
export async function answerTokenRequest(
  deps: RefreshDeps,
  app: CallingApp,
  parameters: Parameters,
): Promise<TokenSet> {
  const grantType = required(parameters, 'grant_type')
  if (grantType === 'authorization_code') {
    return tokenSet(await exchangeCode(deps, app, readExchange(parameters)))
  }
  if (grantType === 'refresh_token') {
    const refresh = () => ({ refreshToken: required(parameters, 'refresh_token'), policy: app.refresh_policy })
    return tokenSet(await refreshTokens(deps, app, refresh))
  }
  throw refuse('grant_type_unsupported', { value: grantType })
}

/** A2 row 9. */
const readExchange = (parameters: Parameters): ExchangeInput => ({
  code: required(parameters, 'code'),
  state: required(parameters, 'state'),
  redirectUri: required(parameters, 'redirect_uri'),
  codeVerifier: parameters.get('code_verifier') || undefined, // an empty one counts as missing
  refreshScope: null,
  withSignIn: false,
})
