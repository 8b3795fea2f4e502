import { z } from 'zod'
import { DAY_S } from './clock.ts'
import { problem } from './json/field-problem.ts'
import { normalName } from './precis.ts'

/** People who work on something together: those of a partner, and those of a team of developers. */

/** Owners also manage members, and what cannot be taken back. */
export const MEMBER_ROLES = ['owner', 'developer'] as const
export type MemberRole = (typeof MEMBER_ROLES)[number]

export const memberMail = z
  .string()
  .trim()
  .overwrite(normalName)
  .max(254)
  .regex(z.regexes.email, problem('must-be-mail'))

/** The mail address as it is unique within a partner or team: in lower case. Addresses are ASCII (above). */
export const mailKeyOf = (mail: string): string => mail.toLowerCase()

export const memberRole = z.enum(MEMBER_ROLES)

/** Somebody to be invited. */
export const newMember = z.strictObject({ mail: memberMail, role: memberRole })
export type NewMember = z.output<typeof newMember>

/** Members and invitations of one partner or team. */
export const MAX_MEMBERS = 50
/** Invitations of one partner or team that can be used. */
export const MAX_INVITATIONS = 20
export const INVITATION_LIFETIME_S = 7 * DAY_S

/** States of the mail with an invitation. */
export const MAIL_STATES = ['waiting', 'sent', 'failed'] as const
// A mail is tried again until its link has expired, at most every ten minutes: never reached.
export const LINK_MAIL_ATTEMPTS = 2_000
