export {
  deleteDemoUsers,
  demoUserKeys,
  findActiveDemoUsers,
  findActiveDemoUsersByName,
  hasUsers,
  markDemoUsers,
} from './demo-store.ts'
export { findPeople, type Person } from './find-people.ts'
export { endSession, findSession, type SignedIn, sessionCookie } from './session.ts'
export { ACCOUNT_RETENTION, userByKey } from './store.ts'
export { blockUser, createUser, hashPassword, inPasswordTurn, listUsers, unblockUser, verifyPassword } from './user.ts'
export { newUser, routingKeyOf, type User, userFilter, userKey } from './wire.ts'
