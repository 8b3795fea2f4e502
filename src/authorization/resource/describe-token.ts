import type { Deps } from '../../platform/deps.ts'
import { PREFIX, parseToken } from '../../platform/lib/crypto/opaque-token.ts'
import type { NamedFailure } from '../../platform/lib/failure.ts'
import { grantableScopes, isScope } from '../../platform/lib/scope.ts'
import { aboutTokenOf, unknownToken } from './bearer.ts'
import { resourceFailure } from './failures.ts'
import { type DescribedToken, findDescribedToken } from './store.ts'

/** An access token that works, whose it is and what it may be used for now. */
export interface LiveToken extends Omit<DescribedToken, 'scopes'> {
  /** Names of both dialects; without what the app has lost since. */
  readonly scopes: readonly string[]
  readonly expiresAt: Date
}

/** For callers that need all that a token allows, not one scope of it. Returns why the token does not work, if it does not. */
export async function describeToken({ db, keys, clock }: Deps, text: string): Promise<LiveToken | NamedFailure> {
  const token = parseToken(keys, PREFIX.accessToken, text)
  if (!token) return resourceFailure('token_forged')
  if (token.expiresAt <= clock.now()) return resourceFailure('token_expired')
  const found = await findDescribedToken(db, token)
  if (!found) return unknownToken(db, token)
  if (found.revoked) return resourceFailure('token_revoked', aboutTokenOf(found))
  if (found.app_status !== 'approved') return resourceFailure('app_not_approved', aboutTokenOf(found))
  if (found.user_status !== 'active') return resourceFailure('user_blocked', aboutTokenOf(found))
  return { ...found, scopes: scopesInForce(found), expiresAt: token.expiresAt }
}

/** Cache: by the scopes of token and app, of which there are few combinations: this is asked for every request. */
const known = new Map<string, readonly string[]>()
const MAX_KNOWN = 1_000

/** The scopes of a token, without what its app has lost since. */
function scopesInForce({ scopes, app_scopes: ofApp }: DescribedToken): readonly string[] {
  const key = `${scopes}\n${ofApp}`
  const cached = known.get(key)
  if (cached) return cached
  const grantable = grantableScopes((ofApp ?? '').split(' ').filter(isScope))
  const inForce = scopes.split(' ').filter((scope) => grantable.includes(scope))
  if (known.size >= MAX_KNOWN) known.clear()
  known.set(key, inForce)
  return inForce
}
