export { DEMO_USERS } from './demo-store.ts'
export { noSuchUser } from './errors.ts'
export {
  type FileUser,
  fileUser,
  IMPORTED_AT_ONCE,
  type ImportOutcome,
  importUsers,
  type UserImport,
} from './import.ts'
export { resetPassword } from './password.ts'
export { findSession, type SignedIn, sessionCookie, signOut } from './session.ts'
export { ACCOUNT_OF_PERSON, ACCOUNT_RETENTION, heldUserByKey, holdSignedIn, lockUser, userByKey } from './store.ts'
export {
  blockUser,
  countSessionsOfUser,
  createUser,
  endSessionsOfUser,
  type FoundPerson,
  findPeople,
  listUsers,
  showUser,
  unblockUser,
} from './user.ts'
export {
  maskedUser,
  newUser,
  oneUser,
  routingKeyOf,
  shownUser,
  type User,
  type UserKey,
  userFilter,
  userKey,
} from './wire.ts'
