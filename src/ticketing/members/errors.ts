import { localized } from '../../platform/lib/localized-text.ts'
import { invalidRequest, RescodeError } from '../../platform/lib/web/rescode.ts'

/** Why a change of members was refused, and the id of the text for operators; pages have texts of their own. */
export const MEMBER_REFUSALS = {
  taken: 'address-of-member',
  full: 'partner-full',
  invitations: 'partner-invitations',
  mails: 'partner-mails',
  owner_first: 'owner-first',
  last_owner: 'partner-owner',
  not_owner: 'owners-only',
  joined: 'joined-already',
  link_invalid: 'link-not-valid',
  link_expired: 'link-over',
  link_used: 'link-used',
  no_owner: 'no-owner',
} as const

export type MemberRefusalReason = keyof typeof MEMBER_REFUSALS

export class MemberRefusal extends RescodeError {
  readonly reason: MemberRefusalReason

  constructor(reason: MemberRefusalReason) {
    super(20007, { what: localized(MEMBER_REFUSALS[reason]) })
    this.reason = reason
  }
}

/** The same answer for a member that does not exist, was removed, or belongs to another partner. */
export const noSuchMember = (): RescodeError => invalidRequest(localized('no-member'), { status: 404 })
