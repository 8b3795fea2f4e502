export { DEMO_USERS } from './demo-store.ts'
export { fileUser, importUsers } from './import.ts'
export { endOtherSessions, endOwnSession, type OwnSession, ownSessions, signInsOf } from './own-sessions.ts'
export { resetPassword } from './password.ts'
export { findSession, type SignedIn, sessionCookie, signOut } from './session.ts'
export type { SignIn } from './session-list-store.ts'
export { signInFor } from './sign-in-asker.ts'
export {
  ACCOUNT_OF_PERSON,
  ACCOUNT_RETENTION,
  lockedUserByKey,
  lockUser,
  lockUserSignedInSince,
  userByKey,
} from './store.ts'
export {
  blockUser,
  countSessionsOfUser,
  createUser,
  endSessionsOfUser,
  findUsers,
  listUsers,
  lockExistingUser,
  showUser,
  unblockUser,
} from './user.ts'
export { maskedUser, routingKeyOf, type UserKey, userKey, userPathInput } from './wire.ts'
