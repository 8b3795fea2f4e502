import type { Deps } from '../deps.ts'
import { PREFIX, parseToken } from '../lib/crypto/opaque-token.ts'
import type { NamedFailure } from '../lib/failure.ts'
import { grantableScopes } from '../oauth/index.ts'
import { refuse } from './failures.ts'
import { type DescribedToken, findDescribedToken } from './store.ts'

/** An access token that works, whose it is and what it may be used for now. */
export interface LiveToken extends Omit<DescribedToken, 'scopes' | 'app_scopes'> {
  /** Names of both dialects; without what the app has lost since. */
  readonly scopes: readonly string[]
  readonly expiresAt: Date
}

/** For callers that need all that a token allows, not one scope of it. Returns why the token does not work, if it does not. */
export async function describeToken({ db, keys, clock }: Deps, text: string): Promise<LiveToken | NamedFailure> {
  const token = parseToken(keys, PREFIX.accessToken, text)
  if (!token) return refuse('token_forged')
  if (token.expiresAt <= clock.now()) return refuse('token_expired')
  const found = await findDescribedToken(db, token)
  if (!found) return refuse('token_unknown')
  if (found.revoked) return refuse('token_revoked')
  if (found.app_status !== 'approved') return refuse('app_not_approved')
  if (found.user_status !== 'active') return refuse('user_blocked')
  const { scopes, app_scopes, ...rest } = found
  const grantable = grantableScopes(app_scopes)
  return { ...rest, scopes: scopes.filter((scope) => grantable.includes(scope)), expiresAt: token.expiresAt }
}
