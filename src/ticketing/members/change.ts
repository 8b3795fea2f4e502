import { randomUUID } from 'node:crypto'
import { recordAudit } from '../../platform/audit/index.ts'
import type { Db } from '../../platform/db/sql.ts'
import { type Deps, inTransaction } from '../../platform/deps.ts'
import { operation } from '../../platform/lib/json/input.ts'
import {
  MAX_INVITATIONS,
  MAX_MEMBERS,
  type MemberRole,
  mailKeyOf,
  type NewMember,
  newMember,
} from '../../platform/lib/member.ts'
import { isUuid } from '../../platform/lib/uuid.ts'
import { mayInvite } from '../../platform/throttle/index.ts'
import { lockPartner, showPartner } from '../partners/index.ts'
import { MemberRefusal, noSuchMember } from './errors.ts'
import { sendLink } from './link.ts'
import * as store from './store.ts'
import { type Member, memberByMail } from './wire.ts'

/** The actor's name in a session opened with the clientSecret, which works until a member has joined. */
export const BY_CLIENT_SECRET = 'client-secret'

/** Throws MemberRefusal if a page's person is no owner any more. Within the change, with the partner locked. */
export async function requireOwner({ db, actor }: Deps, partnerId: bigint): Promise<void> {
  if (actor?.kind !== 'partner') return
  const allowed =
    actor.name === BY_CLIENT_SECRET
      ? !(await store.hasJoinedMember(db, partnerId))
      : isOwner(await store.findMember(db, partnerId, actor.name ?? ''))
  if (!allowed) throw new MemberRefusal('not_owner')
}

/** The owner (member_id) behind a request; null if it is an operator, or somebody with the clientSecret. */
const ownerActing = ({ actor }: Deps): string | null =>
  actor?.kind === 'partner' && actor.name !== BY_CLIENT_SECRET ? (actor.name ?? null) : null

const isOwner = (member: store.KnownMember | undefined): boolean =>
  member !== undefined && member.role === 'owner' && member.joined_at !== null

interface Work {
  /** Inside the transaction of the change. */
  readonly inside: Deps
  readonly db: Db
  readonly now: Date
  /** Writes to the audit log. `detail` holds ids and roles, no addresses. */
  readonly record: (event: `member_${string}`, detail: object) => Promise<unknown>
}

/** Changes of one partner wait for each other. Throws 20007 (404), and as requireOwner. */
const changeMembers = <T>(deps: Deps, partnerId: bigint, change: (work: Work) => Promise<T>): Promise<T> =>
  inTransaction(deps, async (inside, db) => {
    await showPartner(inside, partnerId)
    await lockPartner(inside, partnerId)
    await requireOwner(inside, partnerId)
    const now = deps.clock.now()
    return change({ inside, db, now, record: (event, detail) => recordMemberEvent(inside, event, partnerId, detail) })
  })

export const recordMemberEvent = (deps: Deps, event: `member_${string}`, partnerId: bigint, detail: object) =>
  recordAudit(deps, { event, partnerId, detail })

/** Members and people who are invited; throws 20007 (404) for an unknown PartnerId. */
export async function listMembers(deps: Deps, partnerId: bigint): Promise<Member[]> {
  await showPartner(deps, partnerId)
  return store.listMembers(deps.db, partnerId)
}

/** A partner keeps an owner: members cannot remove or demote the last one, operators can. */
async function requireAnotherOwner({ inside, db, now }: Work, partnerId: bigint, member: store.KnownMember) {
  if (inside.actor?.kind !== 'partner' || member.role !== 'owner') return
  const { owners } = await store.countMembers(db, partnerId, now)
  if (owners === (isOwner(member) ? 1 : 0)) throw new MemberRefusal(owners === 0 ? 'owner_first' : 'last_owner')
}

async function requireMember({ db }: Work, partnerId: bigint, memberId: string): Promise<store.KnownMember> {
  const member = isUuid(memberId) && (await store.findMember(db, partnerId, memberId))
  if (!member) throw noSuchMember()
  return member
}

export const setMemberRole = (deps: Deps, partnerId: bigint, memberId: string, role: MemberRole): Promise<void> =>
  changeMembers(deps, partnerId, async (work) => {
    const member = await requireMember(work, partnerId, memberId)
    if (member.role === role) return
    await requireAnotherOwner(work, partnerId, member)
    await store.setRole(work.db, memberId, role)
    await work.record('member_role_set', { member_id: memberId, role })
  })

/** Removes a member, whose sessions end at once, or withdraws an invitation. */
export const removeMember = (deps: Deps, partnerId: bigint, memberId: string): Promise<void> =>
  changeMembers(deps, partnerId, async (work) => {
    const member = await requireMember(work, partnerId, memberId)
    if (member.joined_at !== null) await requireAnotherOwner(work, partnerId, member)
    await remove(work, member)
  })

/** For operators, who identify the member by address. */
export const removeMemberByMail = operation(
  memberByMail,
  (deps: Deps, partnerId: bigint, { mail }): Promise<void> =>
    changeMembers(deps, partnerId, async (work) => {
      const member = await store.findMemberByMail(work.db, partnerId, mailKeyOf(mail))
      if (!member) throw noSuchMember()
      await remove(work, member)
    }),
)

async function remove({ db, now, record }: Work, { member_id, role, joined_at }: store.KnownMember): Promise<void> {
  await store.deleteOtherLinks(db, member_id, null)
  await store.removeMember(db, member_id, now)
  await record('member_removed', { member_id, role, joined: joined_at !== null })
}

/** Invites somebody by mail and returns the member_id. Until an owner has joined, only owners can be invited. */
export const inviteMember = operation(
  newMember,
  (deps: Deps, partnerId: bigint, { mail, role }: NewMember): Promise<string> =>
    changeMembers(deps, partnerId, async ({ inside, db, now, record }) => {
      const mail_key = mailKeyOf(mail)
      if (await store.findMemberByMail(db, partnerId, mail_key)) throw new MemberRefusal('taken')
      const { all, owners, open } = await store.countMembers(db, partnerId, now)
      if (role !== 'owner' && owners === 0) throw new MemberRefusal('owner_first')
      if (all >= MAX_MEMBERS) throw new MemberRefusal('full')
      if (open >= MAX_INVITATIONS) throw new MemberRefusal('invitations')
      if (!(await mayInvite(inside, String(partnerId), mail))) throw new MemberRefusal('mails')
      const member_id = randomUUID()
      await store.insertMember(db, partnerId, { member_id, mail, mail_key, role }, now)
      await sendLink(inside, member_id, 'invitation', { invited_by: ownerActing(inside) })
      await record('member_invited', { member_id, role })
      return member_id
    }),
)

/** Sends a new invitation to somebody who has not joined; the previous one stops working. */
export const inviteAgain = (deps: Deps, partnerId: bigint, memberId: string): Promise<void> =>
  changeMembers(deps, partnerId, async (work) => {
    const { inside, db, now, record } = work
    const member = await requireMember(work, partnerId, memberId)
    if (member.joined_at !== null) throw new MemberRefusal('joined')
    await store.deleteOtherLinks(db, memberId, null)
    if ((await store.countMembers(db, partnerId, now)).open >= MAX_INVITATIONS) throw new MemberRefusal('invitations')
    if (!(await mayInvite(inside, String(partnerId), member.mail))) throw new MemberRefusal('mails')
    await sendLink(inside, memberId, 'invitation', { invited_by: ownerActing(inside) })
    await record('member_invited', { member_id: memberId, role: member.role, again: true })
  })
