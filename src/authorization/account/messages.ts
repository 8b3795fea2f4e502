import { contactCode } from './contact-change.ts'
import { forgottenLink } from './forgotten.ts'
import { personMessage, tellPerson } from './person-mail.ts'

/** What people are told about their account: `tell` queues it, jobs send it. */
export const ACCOUNT_MESSAGES = {
  tell: tellPerson,
  told: personMessage,
  forgotten: forgottenLink,
  contactCode,
}
