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
import { clearFailures, countWithin, SignInRefused, throttleKey } from '../../platform/throttle/index.ts'
import type { Proven } from '../upstream/index.ts'
import * as store from './session-store.ts'
import { routingKeyOf, type SignInOrigin } from './wire.ts'

/** Limit per person: each session adds rows here, in the history and in the audit log. */
const SESSIONS_PER_HOUR = 600

export const sessionCookie = ({ PUBLIC_URL, SESSION_LIFETIME_S }: Config): OwnCookie =>
  ownCookie(PUBLIC_URL, { name: 'gatehouse_session', maxAgeS: SESSION_LIFETIME_S })

export interface SignedIn extends UserRowKey {
  readonly name: string
  readonly avatarUrl: string
  readonly status: 'active' | 'blocked'
  /** For test users: the only app that they can use. Null for everybody else. */
  readonly testOf: string | null
  /** When the person last proved who they are: each sign-in opens a session of its own. */
  readonly signedInAt: Date
  /** How, as values of `amr` (RFC 8176). */
  readonly amr: readonly string[]
  /** When the person authenticated: `signedInAt` in sessions that began here, else what the provider says, or null. */
  readonly authenticatedAt: Date | null
  /** Whether they signed in at the OpenID provider. */
  readonly fromUpstream: boolean
  /** The `acr` that the provider reports; null if none. */
  readonly acr: string | null
  /** Hash of the session id; consent forms are bound to it. */
  readonly sessionHash: Buffer
}

/** Binds a sealed id_token to its session. Never resealed: sessions end before an old SECRET_KEY is retired. */
const idTokenContext = (sessionHash: Buffer): string => `id_token of a session\n${sessionHash.toString('hex')}`

/** Returns the id, of which only a keyed hash is stored. Throws SignInRefused for one session too many, or no user. */
export async function startSession(
  deps: Deps,
  { cid, userId }: Omit<UserRowKey, 'routingKey'>,
  from: SignInOrigin,
  amr: readonly string[] = AMR.password,
  upstream?: Proven,
): Promise<string> {
  const now = deps.clock.now()
  const expiresAt = addSeconds(now, deps.config.SESSION_LIFETIME_S)
  const routingKey = routingKeyOf(cid, userId)
  const quota = { ...sessionCount({ cid, userId }), most: SESSIONS_PER_HOUR } as const
  const tooMany = await countWithin(deps, HOUR_S, [quota])
  if (tooMany) throw new SignInRefused(tooMany)
  const session = issueToken(deps.keys, { prefix: PREFIX.browserSession, routingKey, expiresAt })
  const key = { routingKey, cid, userId }
  const inserted = await store.insertSession(deps.db, key, {
    sessionHash: session.hash,
    createdAt: now,
    expiresAt,
    from,
    amr: amr === AMR.password ? null : amr,
    upstream: upstream && {
      ...upstream,
      sub: sha256(upstream.sub),
      sid: upstream.sid === undefined ? null : sha256(upstream.sid),
      idToken: encryptSecret(deps.keys, upstream.idToken, idTokenContext(session.hash)),
    },
  })
  if (inserted === 0) throw new SignInRefused()
  return session.text
}

const sessionCount = ({ cid, userId }: Omit<UserRowKey, 'routingKey'>) =>
  ({ kind: 'session', name: `${cid}:${userId}` }) as const

/** After a password reset: whoever opened all those sessions no longer knows the password. */
export async function forgetSessionCount({ db, keys }: Deps, person: UserRowKey): Promise<void> {
  const { kind, name } = sessionCount(person)
  await clearFailures(db, throttleKey(keys, kind, name))
}

/** The signed-in user. A forged or expired cookie costs no statement, a valid one exactly one. */
export async function findSession(deps: Deps, cookieValue: string | undefined): Promise<SignedIn | null> {
  const now = deps.clock.now()
  const token = parseToken(deps.keys, PREFIX.browserSession, cookieValue ?? '')
  if (!token || token.expiresAt <= now) return null
  const session = await store.findSession(deps.db, token.routingKey, token.hash, now)
  if (!session) return null
  const authenticatedAt = session.fromUpstream ? session.authenticatedAt : session.signedInAt
  const amr = session.amr ?? AMR.password
  return { ...session, authenticatedAt, amr, routingKey: token.routingKey, sessionHash: token.hash }
}

/** Locks the person and the session. False if it has ended: what waited for that changes nothing. */
export const lockSignedIn = ({ db, clock }: Deps, session: SignedIn): Promise<boolean> =>
  store.lockSession(db, session, clock.now())

/** Returns the id_token of a session that began at the OpenID provider, empty if its SECRET_KEY is gone. */
export async function endThisSession(deps: Deps, cookieValue: string | undefined): Promise<string | undefined> {
  const session = await findSession(deps, cookieValue)
  if (!session) return undefined
  const { routingKey, sessionHash, fromUpstream } = session
  return inPersonTransaction(deps, routingKey, async (inside, db) => {
    const sealed = fromUpstream ? await store.idTokenOfSession(db, routingKey, sessionHash) : null
    if ((await store.deleteSession(db, routingKey, sessionHash)) === 0) return undefined
    await recordByPerson(inside, session, 'user_signed_out')
    if (!fromUpstream) return undefined
    return readOr(() => (sealed ? decryptSecret(deps.keys, sealed, idTokenContext(sessionHash)) : ''), '')
  })
}

export async function endSession(deps: Deps, cookieValue: string | undefined): Promise<void> {
  const token = parseToken(deps.keys, PREFIX.browserSession, cookieValue ?? '')
  if (token) await store.deleteSession(deps.db, token.routingKey, token.hash)
}

/** RFC 8176; `pop` is from the Extended Authentication Profile. A recovery code is a second factor, but not an OTP. */
export const AMR = {
  password: ['pwd'],
  totp: ['pwd', 'otp', 'mfa'],
  recoveryCode: ['pwd', 'mfa'],
  /** Proof of possession of a key, in hardware or not, by an authenticator that has verified its user. */
  passkey: ['pop', 'mfa'],
} as const
