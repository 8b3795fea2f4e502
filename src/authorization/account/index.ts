import { contactCode } from './contact-change.ts'
import { forgottenLink } from './forgotten.ts'
import { personMessage, tellPerson } from './person-mail.ts'

export { DEMO_USERS } from './demo-store.ts'
export { ACCOUNT_SEALED, FACTORS } from './factors.ts'
export { importUsers } from './import.ts'
export { USERS_FILE } from './import-file.ts'
export { ACCOUNT_OF_PERSON, ACCOUNT_RETENTION } from './kept-store.ts'
export { resetPassword } from './password.ts'
export { OWN_PROFILE } from './profile.ts'
export { findSession, lockSignedIn, type SignedIn, sessionCookie } from './session.ts'
export { OWN_SESSIONS, PERSON_SESSIONS } from './sessions.ts'
export { signInFor } from './sign-in-app.ts'
export { STEP_UP, signOut } from './sign-in-guard.ts'
export { lockedUserByKey, lockUser, userByKey } from './store.ts'
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
