import { z } from 'zod'
import { filterText, momentKey, pageInput } from '../../platform/db/page.ts'
import { visibleLine } from '../../platform/lib/json/input.ts'
import { MAIL_STATES, memberMail, memberRole } from '../../platform/lib/member.ts'

/** What pages and operators take and give about teams. Names are those of the tables' columns. */

export const teamName = visibleLine(60)

export const newTeam = z.strictObject({ name: teamName })

/** A team that operators make, and who is invited to own it. */
export const newTeamOf = newTeam.extend({ mail: memberMail })

export const oneTeam = z.strictObject({ team_id: z.uuid() })

/** A team, as one of its members sees it. */
export const membership = z.object({
  team_id: z.string(),
  name: z.string(),
  role: memberRole,
  member_id: z.string(),
})
export type Membership = z.output<typeof membership>

export const teamMember = z.object({
  member_id: z.string(),
  name: z.string(),
  role: memberRole,
  joined_at: z.date(),
})
export type TeamMember = z.output<typeof teamMember>

export const invitation = z.object({
  invitation_id: z.string(),
  mail: z.string(),
  role: memberRole,
  invited_at: z.date(),
  expires_at: z.date(),
  mail_state: z.enum(MAIL_STATES),
  mail_error: z.string().nullable(),
})
export type Invitation = z.output<typeof invitation>

export const APP_KINDS = ['server', 'page', 'native'] as const

/** Which teams, and which page of them: ordered by created_at, team_id. */
export const teamFilter = z.strictObject({
  name: filterText(60).optional(),
  ...pageInput(z.tuple([momentKey, z.uuid()])),
})
export type TeamFilter = z.output<typeof teamFilter>
