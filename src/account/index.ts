export { DEMO_USERS } from './demo-store.ts'
export { fileUser, importUsers } from './import.ts'
export { resetPassword } from './password.ts'
export { findSession, type SignedIn, sessionCookie, signOut } from './session.ts'
export { ACCOUNT_OF_PERSON, ACCOUNT_RETENTION, heldUserByKey, holdSignedIn, userByKey } from './store.ts'
export {
  blockUser,
  countSessionsOfUser,
  createUser,
  endSessionsOfUser,
  findPeople,
  listUsers,
  lockExistingUser,
  showUser,
  unblockUser,
} from './user.ts'
export { maskedUser, oneUser, routingKeyOf, type UserKey, userKey } from './wire.ts'
