import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server'
import type { UserRowKey } from '../../platform/db/personal-rows.ts'
import { type Deps, inPersonTransaction } from '../../platform/deps.ts'
import { addSeconds, HOUR_S } from '../../platform/lib/clock.ts'
import { hmacSha256 } from '../../platform/lib/crypto/digest.ts'
import { issueToken, type OpaqueToken, PREFIX, parseToken } from '../../platform/lib/crypto/opaque-token.ts'
import { countWithin, SignInRefused } from '../../platform/throttle/index.ts'
import * as store from './factor-store.ts'
import { ownPassport } from './password.ts'
import { recordChange } from './person-mail.ts'
import { AMR, endSession, lockSignedIn, type SignedIn, startSession } from './session.ts'
import { notifyOfNewDevice, personLimits, recordSignIn } from './sign-in.ts'
import { deleteOtherSessions, lockUserSignedInSince } from './store.ts'
import type { SignInBrowser } from './wire.ts'

/**
 * Passkeys (WebAuthn). The authenticator proves possession of a key and verifies its user (PIN, fingerprint), so a
 * passkey counts as two factors. RP id and origin come from PUBLIC_URL and are compared strictly.
 *
 * A challenge is a self-contained token with purpose and expiry, so merely opening a page stores nothing. It is
 * recorded when answered, and can be answered only once.
 */

/** How long a sign-in page may stay open, in seconds. */
const CHALLENGE_S = 3_600
const MAX_PASSKEYS = 20
/** Keys cannot be guessed, so failures lock nobody out; beyond this number they are refused without leaving a row. */
const MAX_RECORDED_FAILURES = 12

const webauthn = () => import('@simplewebauthn/server')

const relyingParty = ({ config: { PUBLIC_URL } }: Deps) => ({
  expectedOrigin: new URL(PUBLIC_URL).origin,
  expectedRPID: new URL(PUBLIC_URL).hostname,
  requireUserVerification: true,
})

const SIGN_IN = 'sign-in'
const registrationIn = ({ sessionHash }: SignedIn): string => `passkey of ${sessionHash.toString('base64url')}`

const newChallenge = ({ keys, clock }: Deps, boundTo: string): Uint8Array<ArrayBuffer> => {
  const expiresAt = addSeconds(clock.now(), CHALLENGE_S)
  const { text } = issueToken(keys, { prefix: PREFIX.passkeyChallenge, routingKey: 0, expiresAt, boundTo })
  return new TextEncoder().encode(text)
}

/** `isOurs` accepts unexpired challenges of ours for this purpose, and collects them in `answered`. */
function challengeCheck({ keys, clock }: Deps, boundTo: string) {
  const answered: OpaqueToken[] = []
  const isOurs = (challenge: string): boolean => {
    const text = Buffer.from(challenge, 'base64url').toString()
    const token = parseToken(keys, PREFIX.passkeyChallenge, text, boundTo)
    if (!token || token.expiresAt <= clock.now()) return false
    answered.push(token)
    return true
  }
  return { isOurs, answered }
}

/** Options for `navigator.credentials.get`. They name no credentials, so as not to reveal who has passkeys. */
export async function signInOptions(deps: Deps): Promise<string> {
  const { generateAuthenticationOptions } = await webauthn()
  const options = await generateAuthenticationOptions({
    rpID: relyingParty(deps).expectedRPID,
    challenge: newChallenge(deps, SIGN_IN),
    userVerification: 'required',
    timeout: CHALLENGE_S * 1000,
  })
  return JSON.stringify(options)
}

/** Identifies the account to the authenticator: the routing key, then bytes that mean nothing to others. */
function userHandle({ keys }: Deps, { routingKey, cid, userId }: UserRowKey): Uint8Array<ArrayBuffer> {
  const handle = new Uint8Array(32)
  new DataView(handle.buffer).setUint16(0, routingKey)
  handle.set(hmacSha256(keys.derive, `passkey user\n${cid}:${userId}`).subarray(0, 30), 2)
  return handle
}

export async function registrationOptions(deps: Deps, session: SignedIn): Promise<string> {
  const { generateRegistrationOptions } = await webauthn()
  const existing = await store.passkeysOf(deps.db, session)
  const options = await generateRegistrationOptions({
    rpName: 'Gatehouse',
    rpID: relyingParty(deps).expectedRPID,
    userName: await ownPassport(deps, session),
    userDisplayName: session.name,
    userID: userHandle(deps, session),
    challenge: newChallenge(deps, registrationIn(session)),
    excludeCredentials: existing.map(({ credentialId }) => ({ id: credentialId.toString('base64url') })),
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
  })
  return JSON.stringify(options)
}

/** Adds a passkey. `full`: the person has as many as they may have. `known`: it is registered already. */
export async function addPasskey(
  deps: Deps,
  session: SignedIn,
  { response, name }: { readonly response: RegistrationResponseJSON; readonly name: string },
) {
  const { verifyRegistrationResponse } = await webauthn()
  const { isOurs, answered } = challengeCheck(deps, registrationIn(session))
  const verified = await verifyRegistrationResponse({
    response,
    expectedChallenge: isOurs,
    ...relyingParty(deps),
  }).catch(() => undefined) // throws for invalid responses
  const [challenge] = answered
  if (!verified?.verified || !challenge) return 'not_added'
  const { credential } = verified.registrationInfo
  const passkey = {
    credentialId: Buffer.from(credential.id, 'base64url'),
    publicKey: Buffer.from(credential.publicKey),
    counter: credential.counter,
    transports: (credential.transports ?? []).slice(0, 8),
    name,
  }
  return inPersonTransaction(deps, session.routingKey, async (inside, db) => {
    if (!(await lockSignedIn(inside, session))) return 'not_added'
    if ((await store.spendChallenge(db, challenge.hash, challenge.expiresAt)) === 0) return 'not_added'
    if ((await store.passkeysOf(db, session)).length >= MAX_PASSKEYS) return 'full'
    if ((await store.insertPasskey(db, session, passkey, deps.clock.now())) === 0) return 'known'
    await recordChange(inside, session, 'passkey_added')
    return 'added'
  })
}

/** Opens a session for a passkey; returns its id and whose it is. Throws SignInRefused. */
export async function signInWithPasskey(
  deps: Deps,
  { response, device, formerSession, ...from }: SignInBrowser & { readonly response: AuthenticationResponseJSON },
) {
  const credentialId = Buffer.from(response.id, 'base64url')
  const handle = Buffer.from(response.response.userHandle ?? '', 'base64url')
  if (handle.length < 2) throw new SignInRefused()
  const routingKey = handle.readUInt16BE(0)
  const passkey = await store.findPasskey(deps.db, routingKey, credentialId)
  if (!passkey) throw new SignInRefused()
  const { cid, userId, publicKey } = passkey
  const key = { routingKey, cid, userId }
  const refuse = async (problem: string): Promise<never> => {
    deps.metrics.signInFailures.inc({ kind: 'passport' })
    const quota = { kind: 'passkey-failed', name: `${cid}:${userId}`, most: MAX_RECORDED_FAILURES } as const
    if (!(await countWithin(deps, HOUR_S, [quota]))) {
      await recordSignIn(deps, key, 'failed', { from, method: 'passkey', detail: { by: 'passkey', problem } })
    }
    throw new SignInRefused()
  }
  const verified = await verify(deps, response, publicKey)
  if (!verified) return refuse('not in order')
  const now = deps.clock.now()
  const opened = await inPersonTransaction(deps, routingKey, async (inside, db) => {
    if (!(await lockUserSignedInSince(db, key, now))) throw new SignInRefused()
    const { challenge, counter } = verified
    if ((await store.spendChallenge(db, challenge.hash, challenge.expiresAt)) === 0) return undefined
    if ((await store.countUse(db, routingKey, credentialId, counter, now)) === 0) return undefined
    const record = { from, method: 'passkey', detail: { amr: AMR.passkey } } as const
    const signInId = await recordSignIn(inside, key, 'succeeded', record)
    const session = await startSession(inside, key, from, AMR.passkey)
    const passport = await ownPassport(inside, key)
    await notifyOfNewDevice(inside, key, { passport, device, signInId })
    return { session, passport }
  })
  if (opened === undefined) return refuse('used before, or a copy')
  await (await personLimits(deps, opened.passport, { address: from.address, device })).forget()
  await endSession(deps, formerSession)
  return opened
}

/** Skips the counter: `countUse` compares and stores it in one statement, which detects clones used concurrently. */
async function verify(deps: Deps, response: AuthenticationResponseJSON, publicKey: Buffer) {
  const { verifyAuthenticationResponse } = await webauthn()
  const { isOurs, answered } = challengeCheck(deps, SIGN_IN)
  const verified = await verifyAuthenticationResponse({
    response,
    expectedChallenge: isOurs,
    credential: { id: response.id, publicKey: new Uint8Array(publicKey), counter: 0 },
    ...relyingParty(deps),
  }).catch(() => undefined)
  const [challenge] = answered
  return verified?.verified && challenge ? { challenge, counter: verified.authenticationInfo.newCounter } : undefined
}

export const ownPasskeys = ({ db }: Deps, key: UserRowKey) => store.passkeysOf(db, key)

export const renameOwnPasskey = ({ db }: Deps, key: UserRowKey, passkeyId: string, name: string) =>
  store.renamePasskey(db, key, passkeyId, name)

/** Also ends all other sessions: whoever has the device may have opened one. */
export const removeOwnPasskey = (deps: Deps, session: SignedIn, passkeyId: string): Promise<void> =>
  inPersonTransaction(deps, session.routingKey, async (inside, db) => {
    if (!(await lockSignedIn(inside, session))) return
    if ((await store.deletePasskey(db, session, passkeyId)) === 0) return
    await deleteOtherSessions(db, session, session.sessionHash)
    await recordChange(inside, session, 'passkey_removed')
  })
