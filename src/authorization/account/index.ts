import { forgottenLink } from './password.ts'
import { personMessage, tellPerson } from './person-mail.ts'
import { contactCode } from './profile.ts'

export { DEMO_USERS } from './bulk-store.ts'
export { ACCOUNT_SEALED, FACTORS } from './factors.ts'
export { importUsers, USERS_FILE } from './import.ts'
export { resetPassword } from './password.ts'
export { OWN_PROFILE } from './profile.ts'
export { findSession, lockSignedIn, type SignedIn, sessionCookie } from './session.ts'
export { OWN_SESSIONS, PERSON_SESSIONS } from './sessions.ts'
export { STEP_UP, signInFor, signOut } from './sign-in-guard.ts'
export { ACCOUNT_OF_PERSON, ACCOUNT_RETENTION, lockedUserByKey, lockUser, userByKey } from './store.ts'
export { TEST_USERS } from './test-users.ts'
export {
  blockUser,
  countSessionsOfUser,
  createUser,
  findUsers,
  listUsers,
  lockExistingUser,
  showUser,
  unblockUser,
  updateUser,
} from './user.ts'
export { maskedUser, rowKeyOf, type UserKey, userKey } from './wire.ts'

/** Messages to people about their account: `tell` queues one, jobs send it. */
export const ACCOUNT_MESSAGES = {
  tell: tellPerson,
  told: personMessage,
  forgotten: forgottenLink,
  contactCode,
}
