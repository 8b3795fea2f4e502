export {
  deleteDemoUsers,
  demoUserKeys,
  findActiveDemoUsers,
  findActiveDemoUsersByName,
  hasUsers,
  markDemoUsers,
} from './demo-store.ts'
export { findPeople, type Person } from './find-people.ts'
export { findSession, type SignedIn, sessionCookie, signOut } from './session.ts'
export { ACCOUNT_RETENTION, userByKey } from './store.ts'
export {
  blockUser,
  createUser,
  hashPassword,
  inPasswordTurn,
  listUsers,
  showUser,
  unblockUser,
  verifyPassword,
} from './user.ts'
export { newUser, routingKeyOf, shownUser, type User, userFilter, userKey } from './wire.ts'
