import { randomUUID } from 'node:crypto'
import type { Deps } from '../../platform/deps.ts'
import { operation } from '../../platform/lib/json/input.ts'
import { MAX_INVITATIONS, MAX_MEMBERS, mailKeyOf, type NewMember, newMember } from '../../platform/lib/member.ts'
import { isUuid } from '../../platform/lib/uuid.ts'
import { mayInvite } from '../../platform/throttle/index.ts'
import { changeMembers } from './change.ts'
import { MemberRefusal, noSuchMember } from './errors.ts'
import { sendLink } from './link.ts'
import { deleteOtherLinks } from './link-store.ts'
import * as store from './store.ts'

/** Invites somebody by mail, and returns the member_id. Until an owner has joined only owners can be invited. */
export const inviteMember = operation(
  newMember,
  (deps: Deps, partnerId: bigint, { mail, role }: NewMember): Promise<string> =>
    changeMembers(deps, partnerId, async ({ db, now, record }) => {
      const mail_key = mailKeyOf(mail)
      if (await store.findMemberByMail(db, partnerId, mail_key)) throw new MemberRefusal('taken')
      const { all, owners, open } = await store.countMembers(db, partnerId, now)
      if (role !== 'owner' && owners === 0) throw new MemberRefusal('owner_first')
      if (all >= MAX_MEMBERS) throw new MemberRefusal('full')
      if (open >= MAX_INVITATIONS) throw new MemberRefusal('invitations')
      if (!(await mayInvite({ ...deps, db }, String(partnerId), mail))) throw new MemberRefusal('mails')
      const member_id = randomUUID()
      await store.insertMember(db, partnerId, { member_id, mail, mail_key, role }, now)
      await sendLink({ ...deps, db }, member_id, 'invitation')
      await record('member_invited', { member_id, role })
      return member_id
    }),
)

/** Sends a new invitation to somebody who has not joined; the former one can no longer be used. */
export const inviteAgain = (deps: Deps, partnerId: bigint, memberId: string): Promise<void> =>
  changeMembers(deps, partnerId, async ({ db, now, record }) => {
    const member = isUuid(memberId) && (await store.findMember(db, partnerId, memberId))
    if (!member) throw noSuchMember()
    if (member.joined_at !== null) throw new MemberRefusal('joined')
    await deleteOtherLinks(db, memberId, null)
    if ((await store.countMembers(db, partnerId, now)).open >= MAX_INVITATIONS) throw new MemberRefusal('invitations')
    if (!(await mayInvite({ ...deps, db }, String(partnerId), member.mail))) throw new MemberRefusal('mails')
    await sendLink({ ...deps, db }, memberId, 'invitation')
    await record('member_invited', { member_id: memberId, role: member.role, again: true })
  })
