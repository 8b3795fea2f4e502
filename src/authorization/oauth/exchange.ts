import { recordAudit } from '../../platform/audit/index.ts'
import { type Deps, inPersonTransaction } from '../../platform/deps.ts'
import { addSeconds, DAY_S, wholeSecondsAfter } from '../../platform/lib/clock.ts'
import { sha256 } from '../../platform/lib/crypto/digest.ts'
import { equalSecrets } from '../../platform/lib/crypto/keys.ts'
import { issueToken, type OpaqueToken, PREFIX, parseToken } from '../../platform/lib/crypto/opaque-token.ts'
import type { NamedFailure } from '../../platform/lib/failure.ts'
import { grantableScopes } from '../../platform/lib/scope.ts'
import type { CallingApp } from '../registry/index.ts'
import {
  type CodeExchange,
  countFailedTry,
  type FoundCode,
  findUsedCode,
  scopesOfCode,
  spendAuthorizationCode,
  type UsedCode,
  wasExchanged,
} from './code-store.ts'
import { oauthFailure } from './failures.ts'
import { endGrant } from './grant.ts'
import { newAccessToken, refreshTokens } from './refresh.ts'
import type { TokenDeps } from './token-cap.ts'
import { type IssuedTokens, type Parameters, required, type TokenCaller, type TokenSet, tokenSet } from './wire.ts'

interface ExchangeInput {
  readonly code: string
  /** Null if the request has none, as OAuth 2.0 does not send it here. */
  readonly state: string | null
  readonly redirectUri: string
  readonly codeVerifier: string | undefined
  /** A refresh token is issued only if the grant has this scope; null: always. */
  readonly refreshScope: string | null
  /** Whether to return the sign-in behind the grant as well. */
  readonly withSignIn: boolean
}

/** A2 row 8: dispatches on the grant type. */
export async function answerTokenRequest(
  deps: TokenDeps,
  caller: TokenCaller,
  parameters: Parameters,
): Promise<TokenSet> {
  const grantType = required(parameters, 'grant_type')
  if (grantType === 'authorization_code') {
    return tokenSet(await exchangeCode(deps, caller, readExchange(parameters)))
  }
  if (grantType === 'refresh_token') {
    const refresh = () => ({ refreshToken: required(parameters, 'refresh_token'), policy: caller.app.refresh_policy })
    return tokenSet(await refreshTokens(deps, caller, refresh))
  }
  throw oauthFailure('grant_type_unsupported', { value: grantType })
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

/** A2 rows 10–16: exchanges a code for tokens. */
async function exchangeCode(deps: Deps, caller: TokenCaller, input: ExchangeInput): Promise<IssuedTokens> {
  const code = parseToken(deps.keys, PREFIX.authorizationCode, input.code)
  if (!code) throw oauthFailure('code_forged', { value: input.code })

  const now = deps.clock.now()
  const exchange = prepare(deps, caller.app, input, code, now)
  const found = await spendAuthorizationCode(deps.db, exchange, input.withSignIn)
  if (!found) throw await whyNotFound(deps, caller, input, code)
  if (!found.spent) throw await whyNotExchanged(deps, caller, input, exchange, found)
  deps.metrics.tokensIssued.authorization_code++
  deps.metrics.usage.count(caller.app.app_key, 'exchange')
  const { accessToken, refreshToken } = exchange
  const { scopes, grant_id: grantId, signIn } = found
  return { accessToken, refreshToken, scopes, grantId, issuedAt: now, signIn }
}

/** Whether the tokens for this code may get the scope. Uses up nothing. */
async function mayBringScope({ db, keys }: Deps, code: string, scope: string): Promise<boolean> {
  const token = parseToken(keys, PREFIX.authorizationCode, code)
  const held = token && (await scopesOfCode(db, token.routingKey, token.hash))
  return held?.includes(scope) ?? false
}

export const AUTHORIZATION_CODE = { exchange: exchangeCode, mayBringScope }

const s256 = (verifier: string): string => sha256(verifier).toString('base64url')

function prepare(
  { config, keys }: Deps,
  app: CallingApp,
  input: ExchangeInput,
  { routingKey, hash: codeHash }: OpaqueToken,
  now: Date,
): CodeExchange & Pick<IssuedTokens, 'accessToken' | 'refreshToken'> {
  const expiresAt = wholeSecondsAfter(now, app.refresh_days * DAY_S)
  return {
    routingKey,
    codeHash,
    now,
    appKey: app.app_key,
    appScopes: grantableScopes(app.scopes),
    appValidFrom: app.valid_from,
    redirectUri: input.redirectUri,
    state: input.state,
    codeChallenge: input.codeVerifier === undefined ? null : s256(input.codeVerifier),
    accessToken: newAccessToken(config, keys, routingKey, now),
    refreshToken: issueToken(keys, { prefix: PREFIX.refreshToken, routingKey, expiresAt, boundTo: app.app_key }),
    refreshScope: input.refreshScope,
  }
}

/** Row 10: the code's row was purged or never existed. */
async function whyNotFound(
  deps: Deps,
  caller: TokenCaller,
  input: ExchangeInput,
  { routingKey, hash, expiresAt }: OpaqueToken,
): Promise<NamedFailure> {
  const used = await findUsedCode(deps.db, routingKey, hash)
  if (used) {
    await revokeReplayed(deps, caller, routingKey, used)
    return oauthFailure('code_used', { value: input.code })
  }
  return oauthFailure(expiresAt <= deps.clock.now() ? 'code_expired' : 'code_unknown', { value: input.code })
}

/** Rows 10–16 in order, for a code that was found but not spent. */
async function whyNotExchanged(
  deps: Deps,
  caller: TokenCaller,
  input: ExchangeInput,
  exchange: CodeExchange,
  found: FoundCode,
): Promise<NamedFailure> {
  const now = deps.clock.now()
  if (found.used_at) {
    await handleReplay(deps, caller, exchange, found, found.used_at)
    return oauthFailure('code_used', { value: input.code })
  }
  if (found.app_key !== caller.app.app_key) return oauthFailure('code_of_another_app', { value: input.code })
  if (found.expires_at <= now) return oauthFailure('code_expired', { value: input.code })

  const mismatch = findMismatch(exchange, found)
  if (mismatch) {
    const counted = await countFailedTry(deps.db, exchange.routingKey, exchange.codeHash, now)
    return counted > 0 ? mismatch : oauthFailure('code_spent_meanwhile', { value: input.code })
  }
  if (found.user_status !== 'active') return oauthFailure('user_blocked')
  if (found.revoked_at) return oauthFailure('grant_withdrawn')
  if (found.scopes.length === 0) return oauthFailure('no_scope_left')
  return oauthFailure('code_spent_meanwhile', { value: input.code })
}

function findMismatch(exchange: CodeExchange, found: FoundCode): NamedFailure | undefined {
  if (exchange.redirectUri !== found.redirect_uri) return oauthFailure('redirect_uri_differs')
  if (exchange.state !== null && exchange.state !== found.state) return oauthFailure('state_differs')
  if (!equalSecrets(exchange.codeChallenge ?? '', found.code_challenge ?? ''))
    return oauthFailure('code_verifier_wrong')
  return undefined
}

/** Callbacks often arrive twice: the same app may repeat a code for a while. Any other replay is theft. */
async function handleReplay(
  deps: Deps,
  caller: TokenCaller,
  { routingKey, codeHash }: CodeExchange,
  found: FoundCode,
  usedAt: Date,
): Promise<void> {
  const { config, clock, db } = deps
  const endsAt = addSeconds(usedAt, config.CODE_DUPLICATE_WINDOW_S)
  const duplicate = found.app_key === caller.app.app_key && clock.now() < endsAt
  if (duplicate || !(await wasExchanged(db, routingKey, codeHash))) return
  await revokeReplayed(deps, caller, routingKey, found)
}

const revokeReplayed = (
  deps: Deps,
  { app, actor }: TokenCaller,
  routingKey: number,
  { grant_id, app_key: appKey }: UsedCode,
): Promise<void> =>
  inPersonTransaction(deps, routingKey, async (inside) => {
    if (!(await endGrant(inside, routingKey, grant_id, 'security'))) return
    const detail = { grant_id, presented_by: app.app_key }
    await recordAudit(inside, { event: 'code_replayed', actor, routingKey, appKey, detail })
  })
