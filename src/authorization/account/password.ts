import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { recordAudit } from '../../platform/audit/index.ts'
import { enqueue } from '../../platform/db/jobs-store.ts'
import type { UserRowKey } from '../../platform/db/personal-rows.ts'
import { type Deps, inPersonTransaction, inTransaction } from '../../platform/deps.ts'
import { DAY_S, HOUR_S, wholeSecondsAfter } from '../../platform/lib/clock.ts'
import { hmacSha256 } from '../../platform/lib/crypto/digest.ts'
import { decryptSecret, encryptSecret } from '../../platform/lib/crypto/keys.ts'
import { issueToken, PREFIX, parseToken } from '../../platform/lib/crypto/opaque-token.ts'
import { hashPassword, verifyPassword } from '../../platform/lib/crypto/password.ts'
import { refuseWeakPassword } from '../../platform/lib/crypto/weak-password.ts'
import { operation } from '../../platform/lib/json/input.ts'
import { localized } from '../../platform/lib/localized-text.ts'
import { invalidRequest } from '../../platform/lib/web/rescode.ts'
import {
  countWithin,
  forgetCodeGuesses,
  knownDevice,
  networkOf,
  SITE_FACTOR,
  SignInRefused,
  type SignInSource,
  siteOf,
  subnetOf,
} from '../../platform/throttle/index.ts'
import { noSuchUser, PasswordRefused } from './errors.ts'
import { passkeysOf } from './factor-store.ts'
import { ownerOfCodes } from './factors.ts'
import { addressOf, recordChange } from './person-mail.ts'
import { forgetSessionCount, lockSignedIn, type SignedIn } from './session.ts'
import { accountOf, personLimits } from './sign-in.ts'
import * as store from './store.ts'
import { findCredential, findLink, insertLink, lockUser, passportOf } from './store.ts'
import { rowKeyOf, type UserKey } from './wire.ts'

/** Path of the page; links add `?token=…`. */
export const PASSWORD_PATH = '/password'
const LINK_LIFETIME_S = 86_400

/** Makes a link that sets the password once, within a day: whoever has it has the account. Throws 20007 (404). */
export const resetPassword = (deps: Deps, user: UserKey) =>
  inTransaction(deps, async (inside, db) => {
    const { cid, user_id } = user
    const key = rowKeyOf(user)
    if (!(await store.lockUser(db, key))) throw noSuchUser()
    if (deps.config.UPSTREAM_ISSUER) throw invalidRequest(localized('no-passwords-here'))
    const now = deps.clock.now()
    const expiresAt = wholeSecondsAfter(now, LINK_LIFETIME_S)
    const link = issueToken(deps.keys, { prefix: PREFIX.passwordLink, routingKey: key.routingKey, expiresAt })
    await store.endLinks(db, key, now)
    await store.insertLink(db, key, link, now)
    await recordAudit(inside, { event: 'user_password_link_made', ...key })
    const url = new URL(`${PASSWORD_PATH}?token=${link.text}`, deps.config.PUBLIC_URL)
    return { cid, user_id, url: url.href, expires_at: link.expiresAt }
  })

/** Looks up whose password a link sets. Throws PasswordRefused; forged and expired tokens cost no statement. */
export async function openPasswordLink({ db, keys, clock }: Deps, token: string) {
  const parsed = parseToken(keys, PREFIX.passwordLink, token)
  if (!parsed) throw new PasswordRefused('link_invalid')
  const { routingKey, hash, expiresAt } = parsed
  if (expiresAt <= clock.now()) throw new PasswordRefused('link_expired')
  const link = await store.findLink(db, routingKey, hash)
  if (!link) throw new PasswordRefused('link_invalid')
  if (link.usedAt) throw new PasswordRefused('link_used')
  return { ...link, hash }
}

/**
 * Sets the password, uses up the link and ends all sessions of the person. Of concurrent calls with one link exactly
 * one succeeds; the others throw PasswordRefused. After WeakPassword the link stays usable. Failed sign-ins to this
 * account from this network, with which most people who need a link begin, no longer count. Returns whose password it
 * was, and the names of the passkeys, which still work.
 */
export async function setPasswordByLink(
  deps: Deps,
  { token, password, address }: Readonly<Record<'token' | 'password' | 'address', string>>,
) {
  const owner = await openPasswordLink(deps, token)
  await refuseWeakPassword(password, owner.passport)
  // Outside the transaction: hashing is slow and may queue for a slot.
  const passwordHash = await deps.passwordSlots.run(() => hashPassword(password))
  const passkeys = await inPersonTransaction(deps, owner.routingKey, async (inside, db) => {
    const link = await openPasswordLink(inside, token)
    if (!(await store.lockUser(db, link))) throw new PasswordRefused('link_invalid')
    if (!(await store.spendLink(db, link.routingKey, link.hash, deps.clock.now())))
      throw new PasswordRefused('link_used')
    await replacePassword(inside, link, passwordHash, { kept: null, kind: 'password_reset' })
    await forgetSessionCount(inside, link)
    return passkeysOf(db, link)
  })
  await (await personLimits(deps, owner.passport, { address })).forget()
  return { owner, passkeys: passkeys.map(({ name }) => name) }
}

export const ownPassport = async ({ db }: Deps, session: UserRowKey): Promise<string> =>
  (await store.passportOf(db, session)) ?? ''

/**
 * Failures are counted per session, so that guesses made elsewhere cannot block the person. Throws WeakPassword,
 * PasswordRefused, and SignInRefused, with `retryAt` after too many failures.
 */
export const changePassword = (
  deps: Deps,
  session: SignedIn,
  { current, password, address }: Readonly<Record<'current' | 'password' | 'address', string>>,
): Promise<void> =>
  deps.passwordSlots.run(async () => {
    const passport = await store.passportOf(deps.db, session)
    if (passport === undefined) throw new PasswordRefused('signed_out')
    await refuseWeakPassword(password, passport)
    const limits = await personLimits(deps, passport, { address, session: session.sessionHash })
    await limits.refuseExhausted()
    const currentHash = await store.passwordHashOf(deps.db, session)
    if (!(await verifyPassword(currentHash, current))) throw await limits.failed()
    await limits.refuseExhausted() // of concurrent guesses, no more are answered than the limit allows
    await limits.forget()
    const passwordHash = await hashPassword(password)
    await inPersonTransaction(deps, session.routingKey, async (inside, db) => {
      if (!(await lockSignedIn(inside, session))) throw new PasswordRefused('signed_out')
      if ((await store.passwordHashOf(db, session)) !== currentHash) throw new SignInRefused() // changed concurrently
      await replacePassword(inside, session, passwordHash, { kept: session.sessionHash, kind: 'password_changed' })
    })
  })

/** `deps.db` has locked the user, so a concurrent sign-in with the old password is either ended or refused. */
async function replacePassword(
  deps: Deps,
  key: UserRowKey,
  passwordHash: string,
  { kept, kind }: { readonly kept: Buffer | null; readonly kind: 'password_changed' | 'password_reset' },
) {
  await store.setPassword(deps.db, key, passwordHash)
  await forgetCodeGuesses(deps, ownerOfCodes(key))
  await store.endLinks(deps.db, key, deps.clock.now())
  await store.deleteOtherSessions(deps.db, key, kept)
  await recordChange(deps, key, kind)
}

/** A job looks the person up, so that neither the response nor its timing reveals whether they exist. */

const LINK_S = 3_600
const MAX_PER_PERSON_AND_NETWORK = 3
const MAX_PER_PERSON = 6
const MAX_PER_PERSON_AND_DAY = 12
/** Extra requests per day once strangers have exhausted the others; one per network. */
const MAX_EXTRA = 12
const MAX_PER_NETWORK = 30

/**
 * Requests a link. If there were too many requests (for this person from one network, from anywhere, or in a day; or
 * from this network for anybody), returns when the limit resets. Strangers who keep asking must not lock the person out
 * of this too: a browser in which they have signed in before has an allowance of its own, and each network gets one
 * extra a day.
 */
export async function askForPassword(
  deps: Deps,
  { passport, address, device }: SignInSource & { readonly passport: string },
): Promise<Date | undefined> {
  const account = accountOf(passport)
  const knownBrowser = knownDevice(deps, account, device)
  const nameOf = (what: string) => `person\n${what}\n${account.name}`
  const site = siteOf(address)
  const nearby = knownBrowser
    ? [{ kind: 'forgotten', name: nameOf(knownBrowser), most: MAX_PER_PERSON_AND_NETWORK } as const]
    : [
        { kind: 'forgotten', name: nameOf(subnetOf(address)), most: MAX_PER_PERSON_AND_NETWORK } as const,
        { kind: 'forgotten-network', name: networkOf(address), most: MAX_PER_NETWORK } as const,
        ...(site ? [{ kind: 'forgotten-network', name: site, most: SITE_FACTOR * MAX_PER_NETWORK } as const] : []),
      ]
  const anywhere = knownBrowser ? [] : [{ kind: 'forgotten', name: nameOf(''), most: MAX_PER_PERSON } as const]
  const day = [{ kind: 'forgotten-day', name: nameOf(knownBrowser ?? ''), most: MAX_PER_PERSON_AND_DAY } as const]
  const extra = [
    { kind: 'forgotten-day', name: nameOf(`more\n${subnetOf(address)}`), most: 1 } as const,
    { kind: 'forgotten-day', name: nameOf('more'), most: MAX_EXTRA } as const,
  ]
  const nearbyUntil = await countWithin(deps, HOUR_S, nearby)
  if (nearbyUntil) return nearbyUntil
  const until = (await countWithin(deps, HOUR_S, anywhere)) ?? (await countWithin(deps, DAY_S, day))
  if (until && (knownBrowser || (await countWithin(deps, DAY_S, extra)))) return until
  const linkId = randomUUID()
  // Encrypted in the queue: what was typed may be a password.
  const sealed = encryptSecret(deps.keys, passport, contextOf(linkId)).toString('base64')
  await enqueue(deps.db, 'forgotten-password', { linkId, sealed, at: deps.clock.now() })
  return undefined
}

const contextOf = (linkId: string): string => `forgotten password ${linkId}`

const forgottenJob = z.object({ linkId: z.uuid(), sealed: z.base64(), at: z.coerce.date() })

/** The same link on every attempt, a secret; undefined if the person is unknown, or the link used or expired. */
export const forgottenLink = operation(forgottenJob, async (deps: Deps, { linkId, sealed, at }) => {
  const { keys, clock, config } = deps
  const expiresAt = wholeSecondsAfter(at, LINK_S)
  if (expiresAt <= clock.now()) return undefined
  const passport = decryptSecret(keys, Buffer.from(sealed, 'base64'), contextOf(linkId))
  const credential = await findCredential(deps.db, passport)
  if (!credential) return undefined
  const { routingKey, cid, userId } = credential
  const key: UserRowKey = { routingKey, cid, userId }
  const random = hmacSha256(keys.derive, `password link\n${linkId}`)
  const link = issueToken(keys, { prefix: PREFIX.passwordLink, routingKey: key.routingKey, expiresAt, random })
  return inPersonTransaction(deps, key.routingKey, async (inside, db) => {
    if (!(await lockUser(db, key))) return undefined
    const address = addressOf(await passportOf(db, key))
    if (config.PASSWORD_RESET === 'mail' && address === undefined) return undefined
    if ((await insertLink(db, key, link, at)) > 0) {
      await recordAudit(inside, { event: 'user_password_link_asked', ...key })
    } else if ((await findLink(db, key.routingKey, link.hash))?.usedAt) return undefined
    const url = new URL(`${PASSWORD_PATH}?token=${link.text}`, config.PUBLIC_URL)
    return { id: linkId, cid, userId, address, url: url.href, at, expiresAt }
  })
})
