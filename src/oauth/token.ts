import type { MicroApp } from '../registry/index.ts'
import { exchangeCode } from './exchange.ts'
import { refuse } from './failures.ts'
import { type RefreshDeps, refreshTokens } from './refresh.ts'
import { type Parameters, required, type TokenSet } from './wire.ts'

/** A2 row 8: which of the two grants the authenticated app asks for. */
export function answerTokenRequest(deps: RefreshDeps, app: MicroApp, parameters: Parameters): Promise<TokenSet> {
  const grantType = required(parameters, 'grant_type')
  if (grantType === 'authorization_code') return exchangeCode(deps, app, parameters)
  if (grantType === 'refresh_token') return refreshTokens(deps, app, parameters)
  throw refuse('grant_type_unsupported', { value: grantType })
}
