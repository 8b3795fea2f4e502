import { recordAudit } from '../../platform/audit/index.ts'
import type { Config } from '../../platform/config/index.ts'
import { type Deps, inPersonTransaction } from '../../platform/deps.ts'
import { addSeconds, wholeSecondsAfter } from '../../platform/lib/clock.ts'
import { hmacSha256 } from '../../platform/lib/crypto/digest.ts'
import { type DerivedKeys, everyKey } from '../../platform/lib/crypto/keys.ts'
import { issueToken, type OpaqueToken, PREFIX, parseToken } from '../../platform/lib/crypto/opaque-token.ts'
import type { NamedFailure } from '../../platform/lib/failure.ts'
import { grantableScopes } from '../../platform/lib/scope.ts'
import { APP_RATES, networkOf } from '../../platform/throttle/index.ts'
import type { CallingApp } from '../registry/index.ts'
import { oauthFailure } from './failures.ts'
import { endGrant } from './grant.ts'
import { accessTokenScopes, type FoundRefresh, findRefresh, refreshFixed, rotateRefresh } from './refresh-store.ts'
import type { TokenDeps } from './token-cap.ts'
import type { IssuedTokens, TokenCaller } from './wire.ts'

export interface RefreshInput {
  readonly refreshToken: string
  readonly policy: CallingApp['refresh_policy']
  /** Limits the scopes of the new access token; by default it gets those of the grant. */
  readonly scopes?: readonly string[]
}

/** A3. Ownership is checked before expiry: the app_key is part of the token's MAC. The rate limit comes before the input. */
export async function refreshTokens(
  deps: TokenDeps,
  { app, actor, isPublic = false }: TokenCaller,
  readInput: () => RefreshInput,
): Promise<IssuedTokens> {
  // Per network for a public client: anybody can call in its name and would use up the limit of its users.
  limitRefreshes(deps, isPublic ? `${app.app_key}\n${networkOf(actor.address ?? '')}` : app.app_key)
  const { refreshToken, policy, scopes } = readInput()
  const presented = parseToken(deps.keys, PREFIX.refreshToken, refreshToken, app.app_key)
  if (!presented) throw oauthFailure('refresh_token_forged')
  if (presented.expiresAt <= deps.clock.now()) throw await expired(deps, presented)
  const allowed = grantableScopes(app.scopes)
  const refresh = {
    app,
    actor,
    presented,
    scopes: scopes ? allowed.filter((scope) => scopes.includes(scope)) : allowed,
  }
  if (scopes) await refuseScopesBeyondGrant(deps, presented, scopes)
  const issued = await (policy === 'rotating' ? rotate(deps, refresh) : extend(deps, refresh))
  deps.metrics.tokensIssued.refresh_token++
  deps.metrics.usage.count(app.app_key, 'refresh')
  return issued
}

interface CheckedRefresh extends TokenCaller {
  readonly presented: OpaqueToken
  readonly scopes: readonly string[]
}

/** Checked before anything is issued, so that a refused request leaves the refresh token as it is. */
async function refuseScopesBeyondGrant({ db }: Deps, { routingKey, hash }: OpaqueToken, scopes: readonly string[]) {
  const found = await findRefresh(db, routingKey, hash, scopes)
  if (found && found.scopes.length < new Set(scopes).size) throw oauthFailure('scope_beyond_grant')
}

/** Checked before anything is looked up, whatever the app presents. */
function limitRefreshes({ config, rateLimiter }: Deps, caller: string): void {
  const { exceeded, endsInMs } = rateLimiter.count(APP_RATES.refreshes(config), caller)
  if (exceeded) throw oauthFailure('too_many_refreshes', { retryAfterS: Math.ceil(endsInMs / 1000) })
}

/** Revoked takes precedence over expired while the row exists; once it is purged, the token itself still tells its expiry. */
async function expired({ db }: Deps, { routingKey, hash }: OpaqueToken): Promise<NamedFailure> {
  const found = await findRefresh(db, routingKey, hash, [])
  return found?.revoked_at ? oauthFailure('refresh_token_revoked') : oauthFailure('refresh_token_expired')
}

export const newAccessToken = (
  config: Config,
  keys: DerivedKeys,
  routingKey: number,
  now: Date,
  random?: Buffer,
): OpaqueToken => {
  const expiresAt = wholeSecondsAfter(now, config.ACCESS_TOKEN_LIFETIME_S)
  return issueToken(keys, { prefix: PREFIX.accessToken, routingKey, expiresAt, random })
}

/** Policy fixed: the same refresh token, one more access token. */
async function extend(deps: TokenDeps, checked: CheckedRefresh): Promise<IssuedTokens> {
  const { app, presented, scopes } = checked
  const { config, db, clock, keys } = deps
  const { routingKey, hash: refreshHash } = presented
  const now = clock.now()
  const accessToken = newAccessToken(config, keys, routingKey, now)
  const refresh = { routingKey, refreshHash, appScopes: scopes, accessToken, appValidFrom: app.valid_from }
  const found = await refreshFixed(db, refresh)
  // Rotated in the standard dialect, or before the app's policy was changed.
  if (found?.rotated_at) return repeatRotation(deps, checked)
  if (!found?.issued) throw whyNotRefreshed(found)
  deps.tokenCap.refreshed(routingKey)
  return { accessToken, refreshToken: presented, scopes: found.scopes, grantId: found.grant_id, issuedAt: now }
}

/** Policy rotating: successors with the same expiry. The rotated token, sent again shortly after, gets the same answer. */
async function rotate(deps: TokenDeps, refresh: CheckedRefresh): Promise<IssuedTokens> {
  const { app, presented, scopes } = refresh
  const { db, clock } = deps
  const { routingKey, hash: refreshHash } = presented
  const now = clock.now()
  const { accessToken, refreshToken } = successorsOf(deps, deps.keys, app, presented, now)
  const rotation = {
    routingKey,
    refreshHash,
    now,
    appScopes: scopes,
    accessToken,
    appValidFrom: app.valid_from,
    successor: refreshToken,
  }
  const found = await rotateRefresh(db, rotation)
  if (!found?.issued) return repeatRotation(deps, refresh)
  deps.tokenCap.refreshed(routingKey)
  return { accessToken, refreshToken, scopes: found.scopes, grantId: found.grant_id, issuedAt: now }
}

/** Derived from the presented token and the time of its rotation, so that hashes suffice to give the same answer again. */
function successorsOf({ config }: Deps, keys: DerivedKeys, app: CallingApp, presented: OpaqueToken, rotatedAt: Date) {
  const { routingKey, expiresAt, text } = presented
  const derived = (purpose: string) => hmacSha256(keys.derive, `${purpose}\n${text}`)
  return {
    accessToken: newAccessToken(config, keys, routingKey, rotatedAt, derived('rotated access token')),
    refreshToken: issueToken(keys, {
      prefix: PREFIX.refreshToken,
      routingKey,
      expiresAt,
      random: derived('rotated refresh token'),
      boundTo: app.app_key,
    }),
  }
}

/** The token was not rotated by this call. It is read again, since another worker may have rotated it a moment ago. */
async function repeatRotation(deps: TokenDeps, refresh: CheckedRefresh): Promise<IssuedTokens> {
  const { app, presented, scopes: asked } = refresh
  const { config, db, clock } = deps
  const { routingKey, hash } = presented
  const now = clock.now()
  const found = await findRefresh(db, routingKey, hash, asked)
  if (!found?.rotated_at || found.revoked_at) throw whyNotRefreshed(found)
  if (now >= addSeconds(found.rotated_at, config.REFRESH_DUPLICATE_WINDOW_S)) {
    await revokeForReuse(deps, refresh, found)
    throw oauthFailure('refresh_token_reused')
  }
  // Within the window a rotated token stands for its successor, which is valid: an app must not be told otherwise.
  if (found.user_status !== 'active') throw oauthFailure('user_blocked')
  for (const key of everyKey(deps.keys)) {
    const issued = successorsOf(deps, key, app, presented, found.rotated_at)
    const scopes = await accessTokenScopes(db, routingKey, issued.accessToken.hash)
    if (scopes) return { ...issued, scopes, grantId: found.grant_id, issuedAt: now }
    // Revoked, or issued for another ACCESS_TOKEN_LIFETIME_S, as before a restart: its refresh token gets another one.
    const successor = await findRefresh(db, routingKey, issued.refreshToken.hash, asked)
    if (successor && !successor.rotated_at) return extend(deps, { ...refresh, presented: issued.refreshToken })
  }
  throw oauthFailure('refresh_answer_gone')
}

async function revokeForReuse(deps: Deps, { app, actor, presented }: CheckedRefresh, found: FoundRefresh) {
  const { routingKey } = presented
  await inPersonTransaction(deps, routingKey, async (inside) => {
    if (!(await endGrant(inside, routingKey, found.grant_id, 'security'))) return
    const detail = { grant_id: found.grant_id }
    await recordAudit(inside, { event: 'refresh_token_reused', actor, routingKey, appKey: app.app_key, detail })
  })
}

/** Why the right app's refresh token was refused, in the order of A3 rows 10–13. */
function whyNotRefreshed(found: FoundRefresh | undefined): NamedFailure {
  if (!found) return oauthFailure('refresh_token_unknown')
  if (found.revoked_at) return oauthFailure('refresh_token_revoked')
  if (found.rotated_at) return oauthFailure('refresh_token_rotated')
  if (found.scopes.length === 0) return oauthFailure('no_scope_left')
  return oauthFailure('user_blocked')
}
