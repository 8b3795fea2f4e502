import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server'
import type { UserRowKey } from '../../platform/db/personal-rows.ts'
import { type Deps, inPersonTransaction } from '../../platform/deps.ts'
import { addSeconds, HOUR_S } from '../../platform/lib/clock.ts'
import { hmacSha256 } from '../../platform/lib/crypto/digest.ts'
import { issueToken, type OpaqueToken, PREFIX, parseToken } from '../../platform/lib/crypto/opaque-token.ts'
import { countWithin } from '../../platform/throttle/index.ts'
import { SignInRefused } from './errors.ts'
import * as store from './factor-store.ts'
import { ownPassport } from './password.ts'
import { recordChange } from './person-mail.ts'
import { AMR, endSession, lockSignedIn, type SignedIn, startSession } from './session.ts'
import { recordSignIn, tellOfNewDevice } from './sign-in.ts'
import { deleteOtherSessions, lockUserSignedInSince } from './store.ts'
import type { SignInBrowser } from './wire.ts'

/**
 * Passkeys (WebAuthn): the authenticator proves a key, and itself who uses it (PIN, finger), so a passkey is two factors.
 * The RP id is the host of PUBLIC_URL, the origin all of it; both are compared strictly.
 *
 * A challenge is a token of ours: it says itself that we made it, for what and until when, so a page that is only looked at
 * leaves nothing behind. Its first answer is noted, and no other counts.
 */

/** A sign-in page may stay open for so long, seconds. */
const CHALLENGE_S = 3_600
const MOST = 20
/** Nobody guesses a key, so failures lock nobody out: those beyond are refused without a row. */
const FAILURES_KEPT_PER_HOUR = 12

/** Loaded with the first passkey. */
const webauthn = () => import('@simplewebauthn/server')

const ofService = ({ config: { PUBLIC_URL } }: Deps) => ({
  expectedOrigin: new URL(PUBLIC_URL).origin,
  expectedRPID: new URL(PUBLIC_URL).hostname,
  requireUserVerification: true,
})

const SIGN_IN = 'sign-in'
const ofSession = ({ sessionHash }: SignedIn): string => `passkey of ${sessionHash.toString('base64url')}`

const newChallenge = ({ keys, clock }: Deps, boundTo: string): Uint8Array<ArrayBuffer> => {
  const expiresAt = addSeconds(clock.now(), CHALLENGE_S)
  const { text } = issueToken(keys, { prefix: PREFIX.passkeyChallenge, routingKey: 0, expiresAt, boundTo })
  return new TextEncoder().encode(text)
}

/** Whether an answer is to a challenge of ours, for this and not too old; and which one that was. */
function challengeOf({ keys, clock }: Deps, boundTo: string) {
  const answered: OpaqueToken[] = []
  const isOurs = (challenge: string): boolean => {
    const text = Buffer.from(challenge, 'base64url').toString()
    const read = parseToken(keys, PREFIX.passkeyChallenge, text, boundTo)
    if (!read || read.expiresAt <= clock.now()) return false
    answered.push(read)
    return true
  }
  return { isOurs, answered }
}

/** What `navigator.credentials.get` takes; names nobody, so the page that has it tells nobody who has passkeys. */
export async function signInOptions(deps: Deps): Promise<string> {
  const { generateAuthenticationOptions } = await webauthn()
  const options = await generateAuthenticationOptions({
    rpID: ofService(deps).expectedRPID,
    challenge: newChallenge(deps, SIGN_IN),
    userVerification: 'required',
    timeout: CHALLENGE_S * 1000,
  })
  return JSON.stringify(options)
}

/** By which an authenticator tells accounts apart: the routing key, then what names the person to nobody else. */
function userHandle({ keys }: Deps, { routingKey, cid, userId }: UserRowKey): Uint8Array<ArrayBuffer> {
  const handle = new Uint8Array(32)
  new DataView(handle.buffer).setUint16(0, routingKey)
  handle.set(hmacSha256(keys.derive, `passkey user\n${cid}:${userId}`).subarray(0, 30), 2)
  return handle
}

/** What `navigator.credentials.create` takes. */
export async function registrationOptions(deps: Deps, session: SignedIn): Promise<string> {
  const { generateRegistrationOptions } = await webauthn()
  const known = await store.passkeysOf(deps.db, session)
  const options = await generateRegistrationOptions({
    rpName: 'Gatehouse',
    rpID: ofService(deps).expectedRPID,
    userName: await ownPassport(deps, session),
    userDisplayName: session.name,
    userID: userHandle(deps, session),
    challenge: newChallenge(deps, ofSession(session)),
    excludeCredentials: known.map(({ credentialId }) => ({ id: credentialId.toString('base64url') })),
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
  })
  return JSON.stringify(options)
}

/** Adds a passkey of the person who is signed in. False for an answer that is not in order, or where there are too many. */
export async function addPasskey(
  deps: Deps,
  session: SignedIn,
  { response, name }: { readonly response: RegistrationResponseJSON; readonly name: string },
): Promise<boolean> {
  const { verifyRegistrationResponse } = await webauthn()
  const { isOurs, answered } = challengeOf(deps, ofSession(session))
  const verified = await verifyRegistrationResponse({
    response,
    expectedChallenge: isOurs,
    ...ofService(deps),
  }).catch(() => undefined) // whatever is wrong with an answer, it is not accepted
  const [challenge] = answered
  if (!verified?.verified || !challenge) return false
  const { credential } = verified.registrationInfo
  const made = {
    credentialId: Buffer.from(credential.id, 'base64url'),
    publicKey: Buffer.from(credential.publicKey),
    counter: credential.counter,
    transports: (credential.transports ?? []).slice(0, 8),
    name,
  }
  return inPersonTransaction(deps, session.routingKey, async (inside, db) => {
    if (!(await lockSignedIn(inside, session))) return false
    if ((await store.spendChallenge(db, challenge.hash, challenge.expiresAt)) === 0) return false
    if ((await store.passkeysOf(db, session)).length >= MOST) return false
    if ((await store.insertPasskey(db, session, made, deps.clock.now())) === 0) return false
    await recordChange(inside, session, 'passkey_added')
    return true
  })
}

interface PasskeySignIn extends SignInBrowser {
  readonly response: AuthenticationResponseJSON
}

/** Opens a session for a passkey and returns its id, and whose it is; throws SignInRefused. */
export async function signInWithPasskey(
  deps: Deps,
  { response, device, formerSession, ...from }: PasskeySignIn,
): Promise<{ readonly session: string; readonly passport: string }> {
  const credentialId = Buffer.from(response.id, 'base64url')
  const handle = Buffer.from(response.response.userHandle ?? '', 'base64url')
  if (handle.length < 2) throw new SignInRefused()
  const routingKey = handle.readUInt16BE(0)
  const found = await store.findPasskey(deps.db, routingKey, credentialId)
  if (!found) throw new SignInRefused()
  const { cid, userId, publicKey } = found
  const key = { routingKey, cid, userId }
  const refuse = async (problem: string): Promise<never> => {
    deps.metrics.signInFailures.inc({ kind: 'passport' })
    const bound = { kind: 'passkey-failed', name: `${cid}:${userId}`, most: FAILURES_KEPT_PER_HOUR } as const
    if (!(await countWithin(deps, HOUR_S, [bound]))) {
      await recordSignIn(deps, key, 'failed', { from, method: 'passkey', detail: { by: 'passkey', problem } })
    }
    throw new SignInRefused()
  }
  const proved = await verify(deps, response, publicKey)
  if (!proved) return refuse('not in order')
  const now = deps.clock.now()
  const opened = await inPersonTransaction(deps, routingKey, async (inside, db) => {
    if (!(await lockUserSignedInSince(db, key, now))) throw new SignInRefused()
    const { challenge, counter } = proved
    if ((await store.spendChallenge(db, challenge.hash, challenge.expiresAt)) === 0) return undefined
    if ((await store.countUse(db, routingKey, credentialId, counter, now)) === 0) return undefined
    const told = { from, method: 'passkey', detail: { amr: AMR.passkey } } as const
    const signInId = await recordSignIn(inside, key, 'succeeded', told)
    const session = await startSession(inside, key, from, AMR.passkey)
    const passport = await ownPassport(inside, key)
    await tellOfNewDevice(inside, key, { passport, device, signInId })
    return { session, passport }
  })
  if (opened === undefined) return refuse('used before, or a copy')
  await endSession(deps, formerSession)
  return opened
}

/** The counter is compared by the statement that keeps it, so that of two copies used at once one is found. */
async function verify(deps: Deps, response: AuthenticationResponseJSON, publicKey: Buffer) {
  const { verifyAuthenticationResponse } = await webauthn()
  const { isOurs, answered } = challengeOf(deps, SIGN_IN)
  const verified = await verifyAuthenticationResponse({
    response,
    expectedChallenge: isOurs,
    credential: { id: response.id, publicKey: new Uint8Array(publicKey), counter: 0 },
    ...ofService(deps),
  }).catch(() => undefined)
  const [challenge] = answered
  return verified?.verified && challenge ? { challenge, counter: verified.authenticationInfo.newCounter } : undefined
}

export const ownPasskeys = ({ db }: Deps, key: UserRowKey) => store.passkeysOf(db, key)

export const renameOwnPasskey = ({ db }: Deps, key: UserRowKey, passkeyId: string, name: string) =>
  store.renamePasskey(db, key, passkeyId, name)

/** The person removes one of their passkeys. All other sessions end: whoever has the device may have opened one with it. */
export const removeOwnPasskey = (deps: Deps, session: SignedIn, passkeyId: string): Promise<void> =>
  inPersonTransaction(deps, session.routingKey, async (inside, db) => {
    if (!(await lockSignedIn(inside, session))) return
    if ((await store.deletePasskey(db, session, passkeyId)) === 0) return
    await deleteOtherSessions(db, session, session.sessionHash)
    await recordChange(inside, session, 'passkey_removed')
  })
