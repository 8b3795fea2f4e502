export { DEMO_USERS } from './demo-store.ts'
export { fileUser, importUsers } from './import.ts'
export { resetPassword } from './password.ts'
export { findSession, type SignedIn, sessionCookie, signOut } from './session.ts'
export { ACCOUNT_OF_PERSON, ACCOUNT_RETENTION, lockedUserByKey, lockUserSignedInSince, userByKey } from './store.ts'
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
