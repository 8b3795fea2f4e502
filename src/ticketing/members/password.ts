import { randomUUID } from 'node:crypto'
import { enqueue } from '../../platform/db/jobs-store.ts'
import { type Deps, inTransaction } from '../../platform/deps.ts'
import { DAY_S, HOUR_S } from '../../platform/lib/clock.ts'
import { hashPassword, verifyPassword } from '../../platform/lib/crypto/password.ts'
import { refuseWeakPassword } from '../../platform/lib/crypto/weak-password.ts'
import { mailKeyOf } from '../../platform/lib/member.ts'
import { countWithin, networkOf, SITE_FACTOR, siteOf, subnetOf } from '../../platform/throttle/index.ts'
import { findPartnerByClientId, lockPartner, showPartner } from '../partners/index.ts'
import { recordMemberEvent } from './change.ts'
import { MemberRefusal } from './errors.ts'
import { openMemberLink, sendLink } from './link.ts'
import * as store from './store.ts'

const MOST_PER_MEMBER = 5
const MOST_PER_MEMBER_AND_DAY = 10
/** Requests in a day after strangers have used up those limits: one a network. */
const MORE_PER_MEMBER = 10
const MOST_PER_NETWORK = 30

/** A member who gave the right password. Sessions are bound to `version`. */
export interface MemberCredential {
  readonly memberId: string
  readonly version: number
}

/** Undefined for a wrong password, an unknown address or an unknown partner, after the same amount of work. */
export async function verifyMember(
  deps: Deps,
  partnerId: bigint | undefined,
  { mail, password }: { mail: string; password: string },
): Promise<MemberCredential | undefined> {
  // No partner has the id 0.
  const credential = await store.findCredential(deps.db, partnerId ?? 0n, mailKeyOf(mail))
  const right = await deps.passwordSlots.run(() => verifyPassword(credential?.password_hash, password))
  return credential && right ? { memberId: credential.member_id, version: credential.credential_version } : undefined
}

type ForgottenPassword = Readonly<Record<'clientId' | 'mail', string>>

/**
 * Queues a mail for somebody who has forgotten a password. A job looks up the member (`sendPasswordLink`), so neither
 * the answer nor its time reveals whether there is one. Over a limit, for this member in an hour or a day or for this
 * network, it returns the end of the window. Strangers cannot lock the member out: each network gets one mail a day
 * beyond what others have used up. Requests are counted here, not when the mails are sent, so that the page can say
 * that none will come.
 */
export async function askForPassword(deps: Deps, { clientId, mail }: ForgottenPassword, address: string) {
  const site = siteOf(address)
  const member = `${clientId}\n${mailKeyOf(mail)}`
  const near = `${subnetOf(address)}\n${member}`
  const late = await countWithin(deps, HOUR_S, [
    { kind: 'forgotten', name: near, most: MOST_PER_MEMBER },
    { kind: 'forgotten-network', name: networkOf(address), most: MOST_PER_NETWORK },
    ...(site ? [{ kind: 'forgotten-network', name: site, most: SITE_FACTOR * MOST_PER_NETWORK } as const] : []),
  ])
  const tomorrow =
    late ?? (await countWithin(deps, DAY_S, [{ kind: 'forgotten-day', name: near, most: MOST_PER_MEMBER_AND_DAY }]))
  if (tomorrow) return tomorrow
  const usedUp =
    (await countWithin(deps, HOUR_S, [{ kind: 'forgotten', name: member, most: MOST_PER_MEMBER }])) ??
    (await countWithin(deps, DAY_S, [{ kind: 'forgotten-day', name: member, most: MOST_PER_MEMBER_AND_DAY }]))
  const more = [
    { kind: 'forgotten-day', name: `more\n${near}`, most: 1 } as const,
    { kind: 'forgotten-day', name: `more\n${member}`, most: MORE_PER_MEMBER } as const,
  ]
  if (usedUp && (await countWithin(deps, DAY_S, more))) return usedUp
  await enqueue(deps.db, 'member-password', { clientId, mail, linkId: randomUUID() })
  return undefined
}

/**
 * The job: sends the member a link to set a new password; does nothing if there is no such member, or if it has run
 * before: its end may not have been written.
 */
export async function sendPasswordLink(
  deps: Deps,
  { clientId, mail, linkId }: ForgottenPassword & { readonly linkId: string },
): Promise<void> {
  const partner = await findPartnerByClientId(deps, clientId)
  if (partner?.status !== 'active') return
  const credential = await store.findCredential(deps.db, partner.partner_id, mailKeyOf(mail))
  if (!credential) return
  await inTransaction(deps, async (inside) => {
    if (!(await sendLink(inside, credential.member_id, 'password', { linkId }))) return
    await recordMemberEvent(inside, 'member_password_asked', partner.partner_id, { member_id: credential.member_id })
  })
}

/**
 * Uses a link once: sets the member's password, which with an invitation is how the member joins. The member's sessions
 * and other links end. Throws MemberRefusal, or WeakPassword, after which the link still works. Of simultaneous calls
 * with one token exactly one succeeds.
 */
export async function useLink(deps: Deps, token: string, password: string) {
  const { partnerId, mail } = await openMemberLink(deps, token)
  const { client_id } = await showPartner(deps, partnerId)
  await refuseWeakPassword(password, mail, client_id)
  // Outside the transaction: hashing is slow, and may wait for a slot.
  const passwordHash = await deps.passwordSlots.run(() => hashPassword(password))
  return deps.db.tx(async (db) => {
    const inside: Deps = { ...deps, db, actor: { ...deps.actor, kind: 'partner' } }
    await lockPartner(inside, partnerId)
    const link = await openMemberLink(inside, token)
    const { linkId, memberId, purpose, role } = link
    const now = deps.clock.now()
    if (purpose === 'invitation' && role !== 'owner') await requireSomeOwner(inside, partnerId, now)
    if (!(await store.spendLink(db, linkId, now))) throw new MemberRefusal('link_used')
    const version = await store.setPassword(db, memberId, passwordHash, now)
    await store.deleteOtherLinks(db, memberId, linkId)
    const event = purpose === 'invitation' ? 'member_joined' : 'member_password_set'
    const byMember: Deps = { ...inside, actor: { ...deps.actor, kind: 'partner', name: memberId } }
    await recordMemberEvent(byMember, event, partnerId, { member_id: memberId, role })
    return { ...link, version }
  })
}

/** Once a member joins, the clientSecret no longer signs in, so there must be an owner to manage the partner. */
async function requireSomeOwner({ db }: Deps, partnerId: bigint, now: Date): Promise<void> {
  if ((await store.countMembers(db, partnerId, now)).owners === 0) throw new MemberRefusal('no_owner')
}
