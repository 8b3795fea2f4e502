import type { Deps } from '../deps.ts'
import { storedForm } from '../lib/keys.ts'
import { PREFIX, readSelfDating } from '../lib/self-dating.ts'
import { insufficientScope, userNotTrusted } from '../oauth/errors.ts'
import { type Parameters, required, type Scope } from '../oauth/wire.ts'
import { accessDenied, expiredToken, invalidToken } from './errors.ts'
import { type FoundToken, findToken } from './store.ts'

/** A4 and A5 rows 2–8, in that order: what an access token gives away, if it allows `scope`. Rows 2–4 need no database. */
export async function readWithToken(deps: Deps, parameters: Parameters, scope: Scope): Promise<FoundToken> {
  const text = required(parameters, 'access_token')
  const dated = readSelfDating(deps.keys, PREFIX.accessToken, text)
  if (!dated) throw invalidToken('not a token of ours')
  if (dated.expiresAt <= deps.clock.now()) throw expiredToken()

  const found = await findToken(deps.db, dated.routingKey, storedForm(deps.keys, text))
  if (!found) throw invalidToken('unknown')
  if (found.revoked_at) throw invalidToken('revoked')
  if (found.app_status !== 'approved') throw accessDenied('the app is deleted or not approved')
  const tokenHolds = found.token_scopes.includes(scope)
  if (tokenHolds && !found.app_scopes?.includes(scope)) throw accessDenied(`the app lost ${scope}`)
  if (found.user_status !== 'active') throw userNotTrusted()
  if (!tokenHolds) throw insufficientScope(`the token lacks ${scope}`)
  return found
}
