import type { Db } from '../../platform/db/sql.ts'
import type { Deps } from '../../platform/deps.ts'
import { type OpaqueToken, PREFIX, parseToken } from '../../platform/lib/crypto/opaque-token.ts'
import type { NamedFailure } from '../../platform/lib/failure.ts'
import { grantableScopes, isScope, type Scope } from '../../platform/lib/scope.ts'
import { ACCESS_TOKENS, type Parameters, readParameters, required } from '../oauth/index.ts'
import type { AccessKind } from './access-store.ts'
import { resourceFailure } from './failures.ts'
import { type DescribedToken, type FoundAccessToken, findDescribedToken, findToken } from './store.ts'
import { type PhoneResult, userInfoResult } from './wire.ts'

/** A valid access token, with its app, its user and what it may be used for now. */
export interface LiveToken extends Omit<DescribedToken, 'scopes'> {
  /** By the names of both dialects, without those that the app has lost since. */
  readonly scopes: readonly string[]
  readonly expiresAt: Date
}

/** For callers that are not after one scope. Returns the failure if the token is not valid. */
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

/** Cache: by the scopes of token and app. There are few combinations, and every request needs one. */
const known = new Map<string, readonly string[]>()
const MAX_KNOWN = 1_000

/** The scopes of a token, without those that its app has lost since. */
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

/** A4 and A5 rows 2–4: an unexpired access token of ours. Needs no database, so a guessed token costs one hash. */
function verifyAccessToken({ keys, clock }: Deps, parameters: Parameters): OpaqueToken {
  const text = required(parameters, 'access_token')
  const token = parseToken(keys, PREFIX.accessToken, text)
  if (!token) throw resourceFailure('token_forged')
  if (token.expiresAt <= clock.now()) throw resourceFailure('token_expired')
  return token
}

/** A4 and A5 rows 5–8 in order, after unknown tokens (row 3) and those that were ended early (row 4). */
async function readWithToken({ db }: Deps, { routingKey, hash }: OpaqueToken, scope: Scope): Promise<FoundAccessToken> {
  const found = await findToken(db, { routingKey, hash, scope })
  if (!found) throw await unknownToken(db, { routingKey, hash })
  if (found.revoked) throw resourceFailure('token_revoked', aboutTokenOf(found))
  if (found.app_status !== 'approved') throw resourceFailure('app_not_approved', aboutTokenOf(found))
  if (found.token_holds && !found.app_holds)
    throw resourceFailure('app_lost_scope', { detail: scope, ...aboutTokenOf(found) })
  if (found.user_status !== 'active') throw resourceFailure('user_blocked', aboutTokenOf(found))
  if (!found.token_holds) throw resourceFailure('token_lacks_scope', { detail: scope, ...aboutTokenOf(found) })
  return found
}

/** Why a token of ours that has no live row is refused. */
const unknownToken = async (db: Db, token: Pick<OpaqueToken, 'routingKey' | 'hash'>): Promise<NamedFailure> =>
  resourceFailure((await ACCESS_TOKENS.wasEndedEarly(db, token)) ? 'token_ended_early' : 'token_unknown')

/** Whose token it is, for `gatehouse explain`. */
const aboutTokenOf = ({
  app_key: appKey,
  cid,
  user_id: userId,
}: Pick<FoundAccessToken, 'app_key' | 'cid' | 'user_id'>) => ({
  about: { appKey, cid, userId },
})

interface Read {
  readonly scope: Scope
  readonly resultOf: (found: FoundAccessToken) => object
}

/** The scope and the result of A4 and A5. */
export const READS: Readonly<Record<AccessKind, Read>> = {
  phone: { scope: 'PHONE_NUMBER', resultOf: phoneResult },
  profile: { scope: 'USER_INFO', resultOf: userInfoResult },
}

/** Not async: rejecting a promise costs more than all checks that need no database, whose failures are thrown at once. */
export const readByUrl = (deps: Deps, url: string, { scope }: Read): Promise<FoundAccessToken> =>
  readWithToken(deps, verifyAccessToken(deps, readParameters(url)), scope)

/** For explaining what a request would get. Nothing is disclosed, so no read is recorded. */
export async function checkRead(deps: Deps, url: string, kind: AccessKind): Promise<void> {
  const read = READS[kind]
  read.resultOf(await readByUrl(deps, url, read))
}

function phoneResult({ phone_number }: FoundAccessToken): PhoneResult {
  if (phone_number === null) throw resourceFailure('no_phone_number')
  return { phone_number }
}
