export {
  BY_CLIENT_SECRET,
  listMembers,
  removeMember,
  removeMemberByMail,
  requireOwner,
  setMemberRole,
} from './change.ts'
export { MemberRefusal, type MemberRefusalReason } from './errors.ts'
export { inviteAgain, inviteMember } from './invite.ts'
export { useLink } from './join.ts'
export {
  findMemberMail,
  type MemberMail,
  markMailFailed,
  markMailSent,
  openMemberLink,
} from './link.ts'
export { askForPassword, hasJoinedMember, sendPasswordLink, verifyMember } from './password.ts'
export { MEMBER_RETENTION } from './store.ts'
export {
  type Member,
  type MemberRole,
  mailKeyOf,
  memberByMail,
  memberMail,
  memberPassword,
  memberRole,
  newMember,
  SHORTEST_PASSWORD,
} from './wire.ts'
