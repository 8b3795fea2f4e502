import { invalidRequest, RescodeError } from '../../platform/lib/web/rescode.ts'

/** Why something about members was refused, with what operators read; pages have texts of their own. */
export const MEMBER_REFUSALS = {
  taken: 'this address belongs to a member already, or is invited',
  full: 'the partner has as many members and invitations as it may have',
  invitations: 'too many invitations are open: remove some, or wait until they are used',
  mails: 'too many emails were sent today to this address or for this partner',
  owner_first: 'the first member must be an owner',
  last_owner: 'the partner needs an owner: make somebody else one first',
  not_owner: 'only an owner may do this',
  joined: 'this member has joined already',
  link_invalid: 'the link is not valid, or has been replaced by a newer one',
  link_expired: 'the link has expired',
  link_used: 'the link has been used already',
  no_owner: 'no owner has joined yet',
} as const

export type MemberRefusalReason = keyof typeof MEMBER_REFUSALS

export class MemberRefusal extends RescodeError {
  readonly reason: MemberRefusalReason

  constructor(reason: MemberRefusalReason) {
    super(20007, { what: MEMBER_REFUSALS[reason] })
    this.reason = reason
  }
}

/** One answer for a member that does not exist, is removed, or belongs to another partner. */
export const noSuchMember = (): RescodeError => invalidRequest('no such member', { status: 404 })
