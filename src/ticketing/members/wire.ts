import { z } from 'zod'
import { newPasswordOf } from '../../platform/lib/json/input.ts'
import { MAIL_STATES, memberRole, newMember } from '../../platform/lib/member.ts'

/** Members as pages, the admin routes and the command line take and give them. Names are those of the columns. */

export const memberByMail = newMember.pick({ mail: true })

export const SHORTEST_PASSWORD = 10
export const memberPassword = newPasswordOf(SHORTEST_PASSWORD)

export const LINK_PURPOSES = ['invitation', 'password'] as const
export type LinkPurpose = (typeof LINK_PURPOSES)[number]

/** A member, or somebody who is invited (`joined_at` is null). */
export const member = z.object({
  member_id: z.string(),
  mail: z.string(),
  role: memberRole,
  invited_at: z.date(),
  joined_at: z.date().nullable(),
  /** When the newest invitation ends; null once joined, or after the purge has deleted that invitation. */
  invited_until: z.date().nullable(),
  /** False for an invitation of somebody who may no longer invite. */
  invitation_counts: z.boolean(),
  mail_state: z.enum(MAIL_STATES).nullable(),
  mail_error: z.string().nullable(),
})
export type Member = z.output<typeof member>
