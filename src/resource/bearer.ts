import type { Deps } from '../deps.ts'
import { PREFIX, readSelfDating, type SelfDating } from '../lib/crypto/self-dating.ts'
import { insufficientScope, userNotTrusted } from '../oauth/errors.ts'
import { type Parameters, required, type Scope } from '../oauth/wire.ts'
import { accessDenied, expiredToken, invalidToken } from './errors.ts'
import { type FoundToken, findToken } from './store.ts'

export type { FoundToken }

/** A4 and A5 rows 2–4: an access token of ours that has not expired. No database: whoever guesses at tokens costs a hash each. */
export function openAccessToken({ keys, clock }: Deps, parameters: Parameters): SelfDating {
  const text = required(parameters, 'access_token')
  const token = readSelfDating(keys, PREFIX.accessToken, text)
  if (!token) throw invalidToken('not a token of ours')
  if (token.expiresAt <= clock.now()) throw expiredToken()
  return token
}

/** A4 and A5 rows 5–8 (and unknown tokens of row 3), in that order: what the token gives away, if it allows `scope`. */
export async function readWithToken({ db }: Deps, { routingKey, hash }: SelfDating, scope: Scope): Promise<FoundToken> {
  const found = await findToken(db, { routingKey, hash, scope })
  if (!found) throw invalidToken('unknown')
  if (found.revoked) throw invalidToken('revoked')
  if (found.app_status !== 'approved') throw accessDenied('the app is deleted or not approved')
  if (found.token_holds && !found.app_holds) throw accessDenied(`the app lost ${scope}`)
  if (found.user_status !== 'active') throw userNotTrusted()
  if (!found.token_holds) throw insufficientScope(`the token lacks ${scope}`)
  return found
}
