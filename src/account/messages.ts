import { forgottenLink } from './forgotten.ts'
import { personMessage } from './person-mail.ts'

/** What jobs send to people about their account. */
export const ACCOUNT_MESSAGES = { told: personMessage, forgotten: forgottenLink }
