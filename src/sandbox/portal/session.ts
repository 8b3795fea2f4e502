import { randomBytes } from 'node:crypto'
import { recordAudit } from '../../platform/audit/index.ts'
import type { Config } from '../../platform/config/index.ts'
import { type Deps, inTransaction } from '../../platform/deps.ts'
import { addSeconds } from '../../platform/lib/clock.ts'
import { equalSecrets } from '../../platform/lib/crypto/keys.ts'
import { issueToken, PREFIX, parseToken } from '../../platform/lib/crypto/opaque-token.ts'
import { mailKeyOf } from '../../platform/lib/member.ts'
import { type OwnCookie, ownCookie } from '../../platform/lib/web/own-cookie.ts'
import { mayRecordFailure, type SignInSource, signInLimits } from '../../platform/throttle/index.ts'
import {
  BY_CLIENT_SECRET,
  hasJoinedMember,
  type MemberCredential,
  verifyMember,
} from '../../ticketing/members/index.ts'
import { findPartner, findPartnerByClientId, type PartnerWithSecrets } from '../../ticketing/partners/index.ts'
import { PartnerNotAdmitted } from './errors.ts'
import * as store from './session-store.ts'

/** The cookie of a sandbox session, separate from users' sessions. */
export const sessionCookie = ({ PUBLIC_URL, SESSION_LIFETIME_S }: Config): OwnCookie =>
  ownCookie(PUBLIC_URL, { name: 'gatehouse_sandbox', path: '/sandbox', maxAgeS: SESSION_LIFETIME_S })

export interface SignedInPartner extends Readonly<store.SessionRow> {
  readonly sessionHash: Buffer
}

/**
 * The signed-in partner, unless the session has expired or ended (see `begin`) or the partner is suspended. A forged or
 * expired cookie costs no statement, any other exactly one.
 */
export async function findPartnerSession(deps: Deps, cookie: string | undefined): Promise<SignedInPartner | null> {
  const now = deps.clock.now()
  const read = parseToken(deps.keys, PREFIX.sandboxSession, cookie ?? '')
  if (!read || read.expiresAt <= now) return null
  const session = await store.findSession(deps.db, read.hash, now)
  return session ? { ...session, sessionHash: read.hash } : null
}

/** Ends the session at the person's request. */
export const signOutPartner = (deps: Deps, { partnerId, memberId, sessionHash }: SignedInPartner): Promise<void> =>
  inTransaction(deps, async (inside, db) => {
    if ((await store.deleteSession(db, sessionHash)) === 0) return
    const actor = { ...deps.actor, kind: 'partner', name: memberId ?? BY_CLIENT_SECRET } as const
    await recordAudit(inside, { event: 'partner_signed_out', actor, partnerId })
  })

/** At most two secrets are live. Sign-in always makes this many comparisons, against a dummy if need be. */
const MAX_SECRETS = 2
const DUMMY_SECRET = { secret_id: '', secret: randomBytes(32).toString('base64url') }

export interface PartnerSignIn extends SignInSource {
  /** This browser's session, which the sign-in replaces. */
  readonly formerSession?: string | undefined
  readonly clientId: string
  /** Without it, `password` is the clientSecret. */
  readonly mail?: string | undefined
  readonly password: string
}

/** The account by which failures are counted and browsers remembered. */
export const accountOf = ({ clientId, mail }: { readonly clientId: string; readonly mail?: string | undefined }) =>
  mail === undefined
    ? ({ kind: 'partner', name: clientId } as const)
    : ({ kind: 'member', name: `${clientId}\n${mailKeyOf(mail)}` } as const)

/**
 * Opens a session for a member, or for clientId and clientSecret (REFERENCE "Credentials"), and returns its id. Throws
 * SignInRefused; for the clientSecret always once a member has joined. Failures are counted as in
 * src/platform/throttle/sign-in.ts. Beyond the limit right and wrong secrets are refused alike, so no guess is
 * confirmed.
 */
export async function signInPartner(deps: Deps, input: PartnerSignIn): Promise<string> {
  const { clientId, mail, password, address, device } = input
  const limits = await signInLimits(deps, { ...accountOf({ clientId, mail }), address, device })
  // Avoids the expensive password hash once a limit is used up.
  if (mail !== undefined) await limits.refuseExhausted()
  const partner = await findPartnerByClientId(deps, clientId)
  const credential =
    mail === undefined
      ? liveSecret(partner, password.trim())
      : await verifyMember(deps, partner?.partner_id, { mail, password })
  if (!partner || !credential) {
    const by = mail === undefined ? BY_CLIENT_SECRET : 'password'
    throw await limits.failed((locked) => recordFailure(deps, partner, { address, by, locked }))
  }
  // Checked again after the comparison, so that simultaneous guesses cannot exceed the limit.
  await limits.refuseExhausted()
  await limits.forget()
  if (partner.status !== 'active') throw new PartnerNotAdmitted('suspended')
  if (mail === undefined && (await hasJoinedMember(deps.db, partner.partner_id)))
    throw new PartnerNotAdmitted('members')
  return begin(deps, partner.partner_id, credential, input.formerSession)
}

/** Opens a session for a member who has just joined, and returns its id; undefined if the partner is suspended. */
export async function signInJoined(
  deps: Deps,
  partnerId: bigint,
  { memberId, version }: MemberCredential,
  formerSession: string | undefined,
): Promise<string | undefined> {
  const partner = await findPartner(deps, partnerId)
  if (partner?.status !== 'active') return undefined
  return begin(deps, partnerId, { memberId, version }, formerSession)
}

/** The live secret that was given, found in constant time, also for unknown partners. */
function liveSecret(partner: PartnerWithSecrets | undefined, given: string): { secretId: string } | undefined {
  const live = partner?.secrets ?? []
  const compared = [...live, ...Array<typeof DUMMY_SECRET>(Math.max(0, MAX_SECRETS - live.length)).fill(DUMMY_SECRET)]
  const matches = compared.map(({ secret_id, secret }) => (equalSecrets(secret, given) ? secret_id : ''))
  const secretId = matches.find((id) => id !== '')
  return secretId === undefined ? undefined : { secretId }
}

/**
 * Opens a session for SESSION_LIFETIME_S in place of the browser's former one, and returns the cookie's value; only a
 * keyed hash is stored. It ends early when its clientSecret ends, a member joins, or the member's password changes.
 */
async function begin(deps: Deps, partnerId: bigint, of: store.SessionOf, former: string | undefined): Promise<string> {
  const replaced = parseToken(deps.keys, PREFIX.sandboxSession, former ?? '')
  if (replaced) await store.deleteSession(deps.db, replaced.hash)
  const now = deps.clock.now()
  const expiresAt = addSeconds(now, deps.config.SESSION_LIFETIME_S)
  const session = issueToken(deps.keys, { prefix: PREFIX.sandboxSession, routingKey: 0, expiresAt })
  return inTransaction(deps, async (inside, db) => {
    const actor = { ...deps.actor, kind: 'partner', name: of.memberId ?? BY_CLIENT_SECRET } as const
    await recordAudit(inside, { event: 'partner_signed_in', actor, partnerId })
    await store.insertSession(db, { sessionHash: session.hash, partnerId, of, expiresAt }, now)
    return session.text
  })
}

/** Unknown clientIds are not recorded. */
async function recordFailure(
  deps: Deps,
  partner: PartnerWithSecrets | undefined,
  { address, by, locked }: { address: string; by: 'password' | typeof BY_CLIENT_SECRET; locked: boolean },
): Promise<void> {
  if (!mayRecordFailure(deps, 'partner', address)) return
  await recordAudit(deps, {
    event: locked ? 'partner_sign_in_locked' : 'partner_sign_in_failed',
    actor: { ...deps.actor, kind: 'partner' },
    ...(partner ? { partnerId: partner.partner_id } : {}),
    outcome: 'refused',
    detail: { by },
  })
}
