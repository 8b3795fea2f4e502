import type { OutputOf } from '../../../platform/lib/json/input.ts'
import { type Locale, translator } from '../../../platform/lib/web/locale.ts'
import type { listMembers } from '../../../ticketing/members/index.ts'
import type { SignedInPartner } from '../session.ts'
import { roleName } from '../texts.ts'

type Member = OutputOf<typeof listMembers>[number]

/** One line of the list. */
interface ShownMember {
  readonly id: string
  readonly mail: string
  readonly isOwner: boolean
  readonly role: string
  readonly joined: boolean
  /** The person who looks at the page. */
  readonly isSelf: boolean
  /** Since when, or until when the invitation works; a line feed stands for `at`, ISO 8601. */
  readonly detail: string
  readonly at: string | null
  /** Why the invitation has not arrived; null when nothing is known of it. */
  readonly problem: { readonly text: string; readonly error: string } | null
}

export interface MembersShown {
  readonly members: readonly ShownMember[]
  /** Signed in with the clientSecret: nobody has joined yet. */
  readonly bySecret: boolean
  /** Until an owner has joined, owners alone can be invited. */
  readonly ownersFirst: boolean
}

export function membersShown(
  members: readonly Member[],
  { memberId }: SignedInPartner,
  now: Date,
  locale: Locale,
): MembersShown {
  const t = translator(locale)
  const standing = ({ joined_at, invited_until }: Member): Pick<ShownMember, 'detail' | 'at'> => {
    if (joined_at) return { detail: t('sandbox.members.joined', { at: '\n' }), at: joined_at.toISOString() }
    if (!invited_until || invited_until <= now) return { detail: t('sandbox.members.expired'), at: null }
    return { detail: t('sandbox.members.invited', { until: '\n' }), at: invited_until.toISOString() }
  }
  const problemOf = ({ mail_error: error, mail_state }: Member) => {
    if (error === null) return null
    return {
      error,
      text: mail_state === 'failed' ? t('sandbox.members.mail_failed') : t('sandbox.members.mail_waiting'),
    }
  }
  return {
    members: members.map((member) => ({
      id: member.member_id,
      mail: member.mail,
      isOwner: member.role === 'owner',
      role: roleName(member.role, t),
      joined: member.joined_at !== null,
      isSelf: member.member_id === memberId,
      ...standing(member),
      problem: problemOf(member),
    })),
    bySecret: memberId === null,
    ownersFirst: !members.some(({ role, joined_at }) => role === 'owner' && joined_at !== null),
  }
}
