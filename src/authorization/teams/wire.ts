import { z } from 'zod'
import { filterText, momentKey, pageInput } from '../../platform/db/page.ts'
import { shapeOf } from '../../platform/db/record-fields.ts'
import { issue } from '../../platform/lib/json/field-problem.ts'
import { shownName, visibleLine } from '../../platform/lib/json/input.ts'
import { MAIL_STATES, memberMail, memberRole } from '../../platform/lib/member.ts'
import { SCOPES } from '../../platform/lib/scope.ts'
import { TEAM_FIELDS } from '../registry/index.ts'

/** What pages and operators take and give about teams. Names are those of the tables' columns. */

const teamName = shownName(60)

export const newTeam = z.strictObject({ name: teamName })

/** A team that operators make, and who is invited to own it. */
export const newTeamOf = newTeam.extend({ mail: memberMail })

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

/** What a team has said of an app, out of all that is kept of it. */
export const keptTeamFields = z.object(shapeOf(TEAM_FIELDS, 'kept'))

/** What developers say of an app. */
export const appFields = z
  .strictObject({
    ...shapeOf(TEAM_FIELDS, 'changed'),
    scopes: TEAM_FIELDS.scopes.created,
    kind: z.enum(APP_KINDS),
    /** What each scope is for. */
    reasons: z.partialRecord(z.enum(SCOPES), visibleLine(300)),
  })
  .superRefine(({ kind, scopes, reasons, hosts, redirect_uris }, context) => {
    if (redirect_uris.length === 0 && (hosts.length === 0 || kind !== 'server')) {
      const problem = kind === 'server' ? issue('required-without-hosts') : issue('must-have-entry')
      context.addIssue({ ...problem, path: ['redirect_uris'] })
    }
    for (const scope of scopes.filter((one) => reasons[one] === undefined)) {
      context.addIssue({ ...issue('must-be-required'), path: ['reasons', scope] })
    }
  })
export type AppFields = z.output<typeof appFields>

/** Which teams, and which page of them: ordered by created_at, team_id. */
export const teamFilter = z.strictObject({
  name: filterText(60).optional(),
  ...pageInput(z.tuple([momentKey, z.uuid()])),
})
export type TeamFilter = z.output<typeof teamFilter>

export const REQUEST_STATES = ['open', 'returned', 'approved', 'refused', 'withdrawn'] as const

/** What an operator says to the team. */
export const remark = z.string().trim().min(3).max(500)

/** Which requests, and which page of them: ordered by asked_at, request_id. */
export const requestFilter = z.strictObject({
  state: z.enum(REQUEST_STATES).default('open'),
  ...pageInput(z.tuple([momentKey, z.uuid()])),
})
export type RequestFilter = z.output<typeof requestFilter>
