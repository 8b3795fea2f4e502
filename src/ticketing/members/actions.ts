import type { Deps } from '../../platform/deps.ts'
import { action, type Shown } from '../../platform/lib/action.ts'
import { maskedMail } from '../../platform/lib/web/admin-auth.ts'
import { onePartner } from '../partners/index.ts'
import { inviteMember, listMembers, removeMemberByMail } from './change.ts'
import type { Member } from './wire.ts'

const membersOf = async (deps: Deps, partnerId: bigint) => ({ members: await listMembers(deps, partnerId) })

const COLUMNS: readonly Shown<Member>[] = [
  'role',
  'invited_at',
  'joined_at',
  { name: 'invitation_counts', of: ({ joined_at, invitation_counts }) => (joined_at ? null : invitation_counts) },
  { name: 'mail_state', of: ({ joined_at, mail_state }) => (joined_at ? null : mail_state) },
  'mail',
]

/** Each action answers with the list of members after it. */
const answers = {
  parts: { members: COLUMNS },
  masked: ({ members }: { readonly members: readonly Member[] }) => ({
    members: members.map((member) => ({ ...member, mail: maskedMail(member.mail) })),
  }),
}

export const MEMBER_ACTIONS = [
  action({
    ...answers,
    route: 'GET /partners/:partner_id/members',
    command: 'partner members list',
    role: 'viewer',
    input: onePartner,
    run: (deps: Deps, { partner_id }) => membersOf(deps, partner_id),
    list: { rows: 'members', columns: COLUMNS },
  }),
  action({
    ...answers,
    route: 'POST /partners/:partner_id/members',
    command: 'partner members invite',
    role: 'editor',
    input: inviteMember.input.extend(onePartner.shape),
    run: async (deps: Deps, { partner_id, ...member }) => {
      await inviteMember(deps, partner_id, member)
      return membersOf(deps, partner_id)
    },
  }),
  action({
    ...answers,
    route: 'POST /partners/:partner_id/members/remove',
    command: 'partner members remove',
    page: { path: '/partners/:partner_id/members/remove', about: ['partner_id', 'mail'] },
    role: 'editor',
    dangerous: true,
    input: removeMemberByMail.input.extend(onePartner.shape),
    run: async (deps: Deps, { partner_id, ...member }) => {
      await removeMemberByMail(deps, partner_id, member)
      return membersOf(deps, partner_id)
    },
  }),
]
