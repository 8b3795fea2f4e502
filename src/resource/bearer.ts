import type { Deps } from '../deps.ts'
import { storedForm } from '../lib/keys.ts'
import { PREFIX, readSelfDating } from '../lib/self-dating.ts'
import { insufficientScope, userNotTrusted } from '../oauth/errors.ts'
import { type Parameters, required, type Scope } from '../oauth/wire.ts'
import { accessDenied, expiredToken, invalidToken } from './errors.ts'
import { type FoundToken, findToken } from './store.ts'

export type { FoundToken }

/** An access token of ours that has not expired. */
interface AccessToken {
  readonly routingKey: number
  readonly hash: Buffer
}

/** A4 and A5 rows 2–4. No database: whoever guesses at tokens costs a hash each. */
export function openAccessToken({ keys, clock }: Deps, parameters: Parameters): AccessToken {
  const text = required(parameters, 'access_token')
  const dated = readSelfDating(keys, PREFIX.accessToken, text)
  if (!dated) throw invalidToken('not a token of ours')
  if (dated.expiresAt <= clock.now()) throw expiredToken()
  return { routingKey: dated.routingKey, hash: storedForm(keys, text) }
}

/** A4 and A5 rows 5–8 (and unknown tokens of row 3), in that order: what the token gives away, if it allows `scope`. */
export async function readWithToken({ db }: Deps, token: AccessToken, scope: Scope): Promise<FoundToken> {
  const found = await findToken(db, { ...token, scope })
  if (!found) throw invalidToken('unknown')
  if (found.revoked) throw invalidToken('revoked')
  if (found.app_status !== 'approved') throw accessDenied('the app is deleted or not approved')
  if (found.token_holds && !found.app_holds) throw accessDenied(`the app lost ${scope}`)
  if (found.user_status !== 'active') throw userNotTrusted()
  if (!found.token_holds) throw insufficientScope(`the token lacks ${scope}`)
  return found
}
