export {
  BY_CLIENT_SECRET,
  inviteAgain,
  inviteMember,
  listMembers,
  newestRemoval,
  removeMember,
  requireOwner,
  setMemberRole,
} from './change.ts'
export { MemberRefusal } from './errors.ts'
export { findMemberMail, markMailFailed, markMailSent, openMemberLink } from './link.ts'
export { MEMBER_ACTIONS } from './operator.ts'
export {
  askForPassword,
  hasJoinedMember,
  type MemberCredential,
  sendPasswordLink,
  useLink,
  verifyMember,
} from './password.ts'
export { MEMBER_RETENTION } from './store.ts'
export { memberPassword, SHORTEST_PASSWORD } from './wire.ts'
