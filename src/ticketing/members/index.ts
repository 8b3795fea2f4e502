export { MEMBER_ACTIONS } from './actions.ts'
export {
  BY_CLIENT_SECRET,
  inviteAgain,
  inviteMember,
  listMembers,
  removeMember,
  requireOwner,
  setMemberRole,
} from './change.ts'
export { MemberRefusal } from './errors.ts'
export { findMemberMail, openMemberLink } from './link.ts'
export { askForPassword, type MemberCredential, sendPasswordLink, useLink, verifyMember } from './password.ts'
export { hasJoinedMember, MEMBER_RETENTION, newestRemoval, setMemberMailState } from './store.ts'
export { memberPassword, SHORTEST_PASSWORD } from './wire.ts'
