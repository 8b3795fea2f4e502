import { randomBytes } from 'node:crypto'
import { recordAudit } from '../../platform/audit/index.ts'
import { type Deps, inTransaction } from '../../platform/deps.ts'
import { equalSecrets } from '../../platform/lib/crypto/keys.ts'
import { mailKeyOf } from '../../platform/lib/member.ts'
import { networkOf, type SignInSource, signInLimits } from '../../platform/throttle/index.ts'
import {
  BY_CLIENT_SECRET,
  hasJoinedMember,
  type MemberCredential,
  verifyMember,
} from '../../ticketing/members/index.ts'
import { findPartner, findPartnerByClientId, type PartnerWithSecrets } from '../../ticketing/partners/index.ts'
import { PartnerNotAdmitted } from './errors.ts'
import { endPartnerSession, startPartnerSession } from './session.ts'

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
  await endPartnerSession(deps, input.formerSession)
  return begin(deps, partner, credential)
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
  await endPartnerSession(deps, formerSession)
  return begin(deps, partner, { memberId, version })
}

/** The live secret that was given, found in constant time, also for unknown partners. */
function liveSecret(partner: PartnerWithSecrets | undefined, given: string): { secretId: string } | undefined {
  const live = partner?.secrets ?? []
  const compared = [...live, ...Array<typeof DUMMY_SECRET>(Math.max(0, MAX_SECRETS - live.length)).fill(DUMMY_SECRET)]
  const matches = compared.map(({ secret_id, secret }) => (equalSecrets(secret, given) ? secret_id : ''))
  const secretId = matches.find((id) => id !== '')
  return secretId === undefined ? undefined : { secretId }
}

/** Opens the session and records the sign-in in the audit log. */
const begin = (deps: Deps, { partner_id }: PartnerWithSecrets, of: Parameters<typeof startPartnerSession>[2]) =>
  inTransaction(deps, async (inside) => {
    const name = 'memberId' in of ? of.memberId : BY_CLIENT_SECRET
    const actor = { ...deps.actor, kind: 'partner', name } as const
    await recordAudit(inside, { event: 'partner_signed_in', actor, partnerId: partner_id })
    return startPartnerSession(inside, partner_id, of)
  })

const MINUTE_S = 60
/** Limits on audit rows about failed sign-ins: attackers could cause any number, and each row is kept for years. */
const ROWS_OF_NETWORK = { kind: 'partner sign-in recorded', most: 10, windowS: MINUTE_S } as const
const ROWS_OF_ALL = { kind: 'partner sign-ins recorded', most: 100, windowS: MINUTE_S } as const

/** Writes an audit row, within the limits per network and in total. Unknown clientIds are not recorded. */
async function recordFailure(
  deps: Deps,
  partner: PartnerWithSecrets | undefined,
  { address, by, locked }: { address: string; by: 'password' | typeof BY_CLIENT_SECRET; locked: boolean },
): Promise<void> {
  const { rateLimiter } = deps
  if (rateLimiter.count(ROWS_OF_NETWORK, networkOf(address)).exceeded || rateLimiter.count(ROWS_OF_ALL, '').exceeded)
    return
  await recordAudit(deps, {
    event: locked ? 'partner_sign_in_locked' : 'partner_sign_in_failed',
    actor: { ...deps.actor, kind: 'partner' },
    ...(partner ? { partnerId: partner.partner_id } : {}),
    outcome: 'refused',
    detail: { by },
  })
}
