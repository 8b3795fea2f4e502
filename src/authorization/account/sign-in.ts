import { recordAudit } from '../../platform/audit/index.ts'
import type { UserRowKey } from '../../platform/db/personal-rows.ts'
import { type Deps, inPersonTransaction, inTransaction } from '../../platform/deps.ts'
import { HOUR_S } from '../../platform/lib/clock.ts'
import { NO_PASSWORD, verifyPassword } from '../../platform/lib/crypto/password.ts'
import { normalName } from '../../platform/lib/precis.ts'
import { cutTo } from '../../platform/lib/storable.ts'
import { subjectOf } from '../../platform/lib/subject.ts'
import {
  countWithin,
  knownDevice,
  type SignInAttempt,
  SignInRefused,
  signInLimits,
} from '../../platform/throttle/index.ts'
import {
  beginFlow,
  type EndedThere,
  type Proven,
  type UpstreamDeps,
  UpstreamFailure,
  type UpstreamPerson,
} from '../upstream/index.ts'
import { SecondStepNeeded } from './errors.ts'
import { findTotp, spendChallenge } from './factor-store.ts'
import { tellPerson } from './person-mail.ts'
import { endSession, endThisSession, startSession } from './session.ts'
import {
  deleteUpstreamSessions,
  insertSignIn,
  ownersOfUpstreamSessions,
  updateProfileFromProvider,
} from './session-store.ts'
import { type Credential, findCredential, insertCredential, insertProfile, lockUser, storedPassport } from './store.ts'
import { newUser, originOf, rowKeyOf, type SignInBrowser, type SignInOrigin } from './wire.ts'

export type SignInInput = SignInBrowser & Readonly<Record<'passport' | 'password', string>>

/**
 * Opens a session for passport and password and returns its id. Throws SignInRefused, and SecondStepNeeded if the
 * password is right but not enough (second-step.ts).
 *
 * Limits are checked again after the password was verified, and a wrong password above a limit is reported as limited,
 * so that concurrent guesses reveal no more than the limit allows.
 */
export const signIn = (deps: Deps, input: SignInInput): Promise<string> =>
  deps.passwordSlots
    .run(() => attemptSignIn(deps, input))
    .catch(async (error) => {
      if (error instanceof SecondStepNeeded) await recordCodeAsked(deps, error.credential, input)
      throw error
    })

const MAX_CODES_ASKED_PER_HOUR = 6

/** Reveals somebody who knows the password but has no code. Limited, so that nobody can flood the history. */
async function recordCodeAsked(deps: Deps, credential: Credential, input: SignInInput) {
  const name = `${credential.cid}:${credential.userId}`
  if (await countWithin(deps, HOUR_S, [{ kind: 'code-asked', name, most: MAX_CODES_ASKED_PER_HOUR }])) return
  await recordSignIn(deps, credential, 'code_asked', { from: originOf(input), method: 'password' })
}

/** Key for counting failures and recognising browsers; the same for all spellings of a passport. */
export const accountOf = (passport: string) => ({ kind: 'passport', name: normalName(passport) }) as const

/** Limits on wrong passwords and codes of one person. */
export const personLimits = (deps: Deps, passport: string, browser: Omit<SignInAttempt, 'kind' | 'name'>) =>
  signInLimits(deps, { ...accountOf(passport), ...browser })

async function attemptSignIn(deps: Deps, input: SignInInput): Promise<string> {
  const { passport, address, device } = input
  const limits = await personLimits(deps, passport, { address, device })
  await limits.refuseExhausted()
  const credential = await findCredential(deps.db, passport)
  const right = await verifyPassword(credential?.passwordHash, input.password)
  if (!credential || !right) {
    const record = { from: originOf(input), method: 'password' } as const
    throw await limits.failed(recordFailure(deps, credential, record))
  }
  await limits.refuseExhausted()
  // Failures are kept until the second step: otherwise somebody with the password could guess codes for ever.
  if (await needsSecondStep(deps, credential)) throw new SecondStepNeeded(credential)
  const isPassword = (hash: string | undefined) => hash === credential.passwordHash
  const opening = { isPassword, amr: undefined, method: 'password', from: originOf(input), device } as const
  const session = await inPersonTransaction(deps, credential.routingKey, (inside) =>
    openSession(inside, passport, credential, opening),
  )
  await limits.forget()
  await endSession(deps, input.formerSession)
  return session
}

async function needsSecondStep({ config: { SECOND_FACTOR }, db }: Deps, credential: Credential): Promise<boolean> {
  if (SECOND_FACTOR !== 'offered') return SECOND_FACTOR === 'required'
  const totp = await findTotp(db, credential)
  return totp !== undefined && totp.confirmedAt !== null
}

interface Opening extends Omit<SignInRecord, 'detail'> {
  /** Whether this is the hash of the password that was verified. */
  readonly isPassword: (hash: string | undefined) => boolean
  readonly amr: readonly string[] | undefined
  /** Value of the device cookie. */
  readonly device: string | undefined
}

/** Last step of a sign-in, in a transaction. Throws if the password has changed or no longer suffices. */
export async function openSession(
  deps: Deps,
  passport: string,
  key: UserRowKey,
  { isPassword, amr, method, from, device }: Opening,
): Promise<string> {
  const detail = amr ? { detail: { amr } } : {}
  const signInId = await recordSignIn(deps, key, 'succeeded', { from, method, ...detail })
  const session = await startSession(deps, key, from, amr)
  // Changing the password or adding an authenticator locks the person and ends existing sessions, so check again here.
  const credential = await findCredential(deps.db, passport)
  if (!credential || !isPassword(credential.passwordHash)) throw new SignInRefused()
  if (!amr && (await needsSecondStep(deps, credential))) throw new SecondStepNeeded(credential)
  await notifyOfNewDevice(deps, key, { passport, device, signInId })
  return session
}

/** Mails the person about a sign-in from a browser that has never signed in to this account. */
export async function notifyOfNewDevice(
  deps: Deps,
  key: UserRowKey,
  { passport, device, signInId }: { passport: string; device: string | undefined; signInId: string | undefined },
) {
  if (signInId === undefined || knownDevice(deps, accountOf(passport), device)) return
  await tellPerson(deps, key, 'new_device', signInId)
}

const EVENTS = {
  succeeded: 'user_signed_in',
  failed: 'user_sign_in_failed',
  locked: 'user_sign_in_locked',
  code_asked: 'user_second_step_asked',
} as const

/** The decisive, or the last tried, method. */
export type SignInMethod = 'password' | 'code' | 'recovery code' | 'passkey' | 'provider'

interface SignInRecord {
  readonly from: SignInOrigin
  readonly method: SignInMethod
  /** For the audit log. */
  readonly detail?: object
}

/** Callback for `failed` of `signInLimits`. */
export const recordFailure =
  (deps: Deps, user: UserRowKey | undefined, record: SignInRecord) =>
  (locked: boolean): Promise<string | undefined> =>
    recordSignIn(deps, user, locked ? 'locked' : 'failed', record)

/** Returns the id in the person's history. Unknown passports are not recorded: they may be passwords. */
export async function recordSignIn(
  deps: Deps,
  user: UserRowKey | undefined,
  outcome: keyof typeof EVENTS,
  { from, method, detail }: SignInRecord,
): Promise<string | undefined> {
  const audited = recordAudit(deps, {
    event: EVENTS[outcome],
    actor: { ...deps.actor, kind: 'user', name: user && `${user.cid}/${user.userId}` },
    ...(user && { routingKey: user.routingKey, cid: user.cid, userId: user.userId }),
    ...(outcome === 'failed' || outcome === 'locked' ? { outcome: 'refused' } : {}),
    ...(detail ? { detail } : {}),
  })
  // Concurrently: otherwise failures for existing people would take longer, which reveals that they exist.
  const inHistory = user && insertSignIn(deps.db, user, { at: deps.clock.now(), outcome, method, from })
  const [signInId] = await Promise.all([inHistory, audited])
  return signInId
}

interface Arrival extends SignInBrowser {
  /** Hash that identifies this flow, which can be completed only once. */
  readonly hash: Buffer
  readonly expiresAt: Date
}

/** Creates the user on first sign-in. Throws SignInRefused during an erasure, UpstreamFailure for a used flow. */
export async function signInFromUpstream(deps: Deps, proven: Proven, arrival: Arrival) {
  const { formerSession, hash, expiresAt, ...from } = arrival
  const { person, amr, acr } = proven
  const key = rowKeyOf(person)
  const session = await inPersonTransaction(deps, key.routingKey, async (inside, db) => {
    if ((await spendChallenge(db, hash, expiresAt)) === 0) {
      throw new UpstreamFailure('not_begun', 'this sign-in was answered before')
    }
    if (!(await createPerson(inside, key, person)))
      await updateProfileFromProvider(db, key, person.profile, deps.clock.now())
    await recordSignIn(inside, key, 'succeeded', { from, method: 'provider', detail: { amr, acr } })
    return startSession(inside, key, from, amr, proven)
  })
  await endSession(deps, formerSession)
  return session
}

/** False if the user exists already. */
async function createPerson(deps: Deps, key: UserRowKey, { profile, preferredUsername }: UpstreamPerson) {
  const inserted = await insertProfile(deps.db, key, {
    name: profile.name ?? preferredUsername ?? cutTo(key.userId, 100),
    gender: profile.gender ?? '0',
    big_avatar_url: profile.big_avatar_url ?? `${deps.config.PUBLIC_URL}/assets/gatehouse.svg`,
    phone_number: profile.phone_number ?? null,
    status: 'active',
    created_at: deps.clock.now(),
  })
  if (inserted === 0) return false
  const preferred = newUser.shape.passport.safeParse(preferredUsername).data
  for (const passport of [...(preferred === undefined ? [] : [preferred]), subjectOf(key)]) {
    if ((await insertCredential(deps.db, key, storedPassport(passport), NO_PASSWORD)) === 0) continue
    await recordAudit(deps, { event: 'user_created', ...key, detail: { by: 'provider' } })
    return true
  }
  throw new UpstreamFailure('unnamed', 'somebody else has the passport that this person would get')
}

/**
 * Ends the session and returns where to redirect: to the provider first, if it has a sign-out page. If not, the person
 * is still signed in there, so a page that needs a sign-in is reached with `confirm`, which lets somebody else sign in.
 */
export async function endSessionThere(
  deps: UpstreamDeps,
  { session, mark, goOn }: { readonly session: string | undefined; readonly mark: string; readonly goOn: string },
): Promise<string> {
  const idToken = await endThisSession(deps, session)
  if (idToken === undefined || !deps.upstream) return goOn
  const proof = beginFlow(deps, 'sign-out', mark, { goOn, app: '', maxAge: null })
  const there = proof && (await deps.upstream.signOutUrl(proof.state, idToken))
  if (there !== undefined) return there
  if (goOn === '/' || !goOn.startsWith('/')) return goOn
  return `/sign-in?${new URLSearchParams({ return_to: goOn, confirm: '1' })}`
}

/** Ends our sessions of an ended provider session; returns how many. Throws UpstreamFailure for a used token. */
export const endFromUpstream = (deps: Deps, { sub, sid, hash, expiresAt }: EndedThere): Promise<number> =>
  inTransaction(deps, async (inside, db) => {
    if ((await spendChallenge(db, hash, expiresAt)) === 0) throw new UpstreamFailure('untrusted', 'it was used before')
    let ended = 0
    for (const person of await ownersOfUpstreamSessions(db, { sub, sid })) {
      await lockUser(db, person) // before the sessions, as a change of password does
      const sessions = await deleteUpstreamSessions(db, person, { sub, sid })
      if (sessions === 0) continue
      await recordAudit(inside, { event: 'user_sessions_ended', ...person, detail: { by: 'provider', sessions } })
      ended += sessions
    }
    return ended
  })
