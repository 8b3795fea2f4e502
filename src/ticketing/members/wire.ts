import { z } from 'zod'
import { newPasswordOf } from '../../platform/lib/json/input.ts'
import { normalName } from '../../platform/lib/precis.ts'

/** What pages, the admin routes and the command line take and give about members. Names are those of the tables' columns. */

/** Owners also manage members, contacts and the clientSecret. */
export const MEMBER_ROLES = ['owner', 'developer'] as const
export type MemberRole = (typeof MEMBER_ROLES)[number]

export const memberMail = z
  .string()
  .trim()
  .overwrite(normalName)
  .max(254)
  .regex(z.regexes.email, 'must be an email address: someone@example.com')

/** The mail address as it is unique within a partner: in lower case. Addresses are ASCII (above). */
export const mailKeyOf = (mail: string): string => mail.toLowerCase()

export const memberRole = z.enum(MEMBER_ROLES)

/** Somebody to be invited. */
export const newMember = z.strictObject({ mail: memberMail, role: memberRole })
export type NewMember = z.output<typeof newMember>

export const memberByMail = newMember.pick({ mail: true })

export const SHORTEST_PASSWORD = 10
export const memberPassword = newPasswordOf(SHORTEST_PASSWORD)

export const LINK_PURPOSES = ['invitation', 'password'] as const
export type LinkPurpose = (typeof LINK_PURPOSES)[number]

export const MAIL_STATES = ['waiting', 'sent', 'failed'] as const

/** A member, or somebody who is invited (`joined_at` is null). */
export const member = z.object({
  member_id: z.string(),
  mail: z.string(),
  role: memberRole,
  invited_at: z.date(),
  joined_at: z.date().nullable(),
  /** When the newest invitation ends; null once joined, or when that invitation has been over for long. */
  invited_until: z.date().nullable(),
  /** State of the invitation's mail. */
  mail_state: z.enum(MAIL_STATES).nullable(),
  mail_error: z.string().nullable(),
})
export type Member = z.output<typeof member>
