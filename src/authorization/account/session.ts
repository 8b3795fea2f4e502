import { recordByPerson } from '../../platform/audit/index.ts'
import type { Config } from '../../platform/config/index.ts'
import type { UserRowKey } from '../../platform/db/personal-rows.ts'
import { type Deps, inPersonTransaction } from '../../platform/deps.ts'
import { addSeconds, HOUR_S } from '../../platform/lib/clock.ts'
import { sha256 } from '../../platform/lib/crypto/digest.ts'
import { decryptSecret, encryptSecret } from '../../platform/lib/crypto/keys.ts'
import { issueToken, PREFIX, parseToken } from '../../platform/lib/crypto/opaque-token.ts'
import { readOr } from '../../platform/lib/read-or.ts'
import { type OwnCookie, ownCookie } from '../../platform/lib/web/own-cookie.ts'
import { clearFailures, countWithin, throttleKey } from '../../platform/throttle/index.ts'
import { SignInRefused } from './errors.ts'
import * as store from './session-store.ts'
import { lockUser } from './store.ts'
import { routingKeyOf, type SignInOrigin } from './wire.ts'

/** Sessions that one person may begin: each leaves a row here, in the history and in the audit log. */
const SESSIONS_PER_HOUR = 600

export const sessionCookie = ({ PUBLIC_URL, SESSION_LIFETIME_S }: Config): OwnCookie =>
  ownCookie(PUBLIC_URL, { name: 'gatehouse_session', maxAgeS: SESSION_LIFETIME_S })

export interface SignedIn extends UserRowKey {
  readonly name: string
  readonly avatarUrl: string
  readonly status: 'active' | 'blocked'
  /** The app that this person exists to try, and no other; null for everybody else. */
  readonly testOf: string | null
  /** When the person last proved who they are: each sign-in opens a session of its own. */
  readonly signedInAt: Date
  /** How, as `amr` has it (RFC 8176). */
  readonly amr: readonly string[]
  /**
   * When the person proved who they are; null where the provider does not say. `signedInAt` in sessions that began
   * here.
   */
  readonly authenticatedAt: Date | null
  /** They signed in at the platform's OpenID provider, and this is what it says about how; null elsewhere, or where it says nothing. */
  readonly fromUpstream: boolean
  readonly acr: string | null
  /** The hash of the session id; consent forms are bound to it. */
  readonly sessionHash: Buffer
}

/** What the platform's OpenID provider has said of a sign-in. */
export type UpstreamSignIn = Pick<SignedIn, 'authenticatedAt' | 'acr'> & {
  readonly idToken: string
  readonly sub: string
  readonly sid: string | undefined
}

/** Binds a sealed id_token to its session, which ends before an old SECRET_KEY goes: it is not resealed. */
const idTokenContext = (sessionHash: Buffer): string => `id_token of a session\n${sessionHash.toString('hex')}`

/** Opens a session for SESSION_LIFETIME_S and returns its id, the cookie's value; only a keyed hash of it is kept. SignInRefused where the user was erased meanwhile, or has signed in too often. */
export async function startSession(
  deps: Deps,
  { cid, userId }: Omit<UserRowKey, 'routingKey'>,
  from: SignInOrigin,
  amr: readonly string[] = AMR.password,
  upstream?: UpstreamSignIn,
): Promise<string> {
  const now = deps.clock.now()
  const expiresAt = addSeconds(now, deps.config.SESSION_LIFETIME_S)
  const routingKey = routingKeyOf(cid, userId)
  const bound = { ...sessionCount({ cid, userId }), most: SESSIONS_PER_HOUR } as const
  const tooMany = await countWithin(deps, HOUR_S, [bound])
  if (tooMany) throw new SignInRefused(tooMany)
  const session = issueToken(deps.keys, { prefix: PREFIX.browserSession, routingKey, expiresAt })
  const proof = amr === AMR.password ? null : amr
  const said = upstream && {
    ...upstream,
    sub: sha256(upstream.sub),
    sid: upstream.sid === undefined ? null : sha256(upstream.sid),
    idToken: encryptSecret(deps.keys, upstream.idToken, idTokenContext(session.hash)),
  }
  const made = { sessionHash: session.hash, createdAt: now, expiresAt, from, amr: proof, upstream: said }
  const known = await store.insertSession(deps.db, { routingKey, cid, userId }, made)
  if (known === 0) throw new SignInRefused()
  return session.text
}

const sessionCount = ({ cid, userId }: Omit<UserRowKey, 'routingKey'>) =>
  ({ kind: 'session', name: `${cid}:${userId}` }) as const

/** Whoever has begun so many knows the password no more. */
export async function forgetSessionCount({ db, keys }: Deps, person: UserRowKey): Promise<void> {
  const { kind, name } = sessionCount(person)
  await clearFailures(db, throttleKey(keys, kind, name))
}

/** The signed-in user. A forged or expired cookie costs no statement, any other exactly one. */
export async function findSession(deps: Deps, cookieValue: string | undefined): Promise<SignedIn | null> {
  const now = deps.clock.now()
  const read = parseToken(deps.keys, PREFIX.browserSession, cookieValue ?? '')
  if (!read || read.expiresAt <= now) return null
  const found = await store.findSession(deps.db, read.routingKey, read.hash, now)
  if (!found) return null
  const authenticatedAt = found.fromUpstream ? found.authenticatedAt : found.signedInAt
  const amr = found.amr ?? AMR.password
  return { ...found, authenticatedAt, amr, routingKey: read.routingKey, sessionHash: read.hash }
}

/**
 * Locks the person until the end of the transaction, if this session of theirs still works: whoever ends it locks them too.
 * So a change that it began before leaves nothing.
 */
export const lockSignedIn = async ({ db, clock }: Deps, session: SignedIn): Promise<boolean> =>
  (await lockUser(db, session)) &&
  (await store.findSession(db, session.routingKey, session.sessionHash, clock.now())) !== undefined

/**
 * The person ends the session of this cookie. Where it began at the platform's OpenID provider, returns the id_token; empty
 * where it cannot be opened any more (it was sealed with a SECRET_KEY that is gone).
 */
export async function endThisSession(deps: Deps, cookieValue: string | undefined): Promise<string | undefined> {
  const session = await findSession(deps, cookieValue)
  if (!session) return undefined
  const { routingKey, sessionHash, fromUpstream } = session
  return inPersonTransaction(deps, routingKey, async (inside, db) => {
    const sealed = fromUpstream ? await store.idTokenOfSession(db, routingKey, sessionHash) : null
    if ((await store.deleteSession(db, routingKey, sessionHash)) === 0) return undefined
    await recordByPerson(inside, session, 'user_signed_out')
    return fromUpstream ? openedIdToken(deps, sealed, sessionHash) : undefined
  })
}

const openedIdToken = ({ keys }: Deps, sealed: Buffer | null, sessionHash: Buffer): string =>
  readOr(() => (sealed ? decryptSecret(keys, sealed, idTokenContext(sessionHash)) : ''), '')

export async function endSession(deps: Deps, cookieValue: string | undefined): Promise<void> {
  const read = parseToken(deps.keys, PREFIX.browserSession, cookieValue ?? '')
  if (!read) return
  await store.deleteSession(deps.db, read.routingKey, read.hash)
}

/** Values of `amr` (RFC 8176; `pop` is of the Extended Authentication Profile). A recovery code has none of its own: it is a factor more, and no code of an authenticator. */
export const AMR = {
  password: ['pwd'],
  totp: ['pwd', 'otp', 'mfa'],
  recoveryCode: ['pwd', 'mfa'],
  /** A key of an authenticator, in hardware or not, that has itself found out who uses it. */
  passkey: ['pop', 'mfa'],
} as const
