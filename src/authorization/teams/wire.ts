import { z } from 'zod'
import { filterText, momentKey, pageInput } from '../../platform/db/page.ts'
import { shapeOf } from '../../platform/db/record-fields.ts'
import { rotation } from '../../platform/lib/crypto/generated-secret.ts'
import { issue } from '../../platform/lib/json/field-problem.ts'
import { shownName, visibleLine } from '../../platform/lib/json/input.ts'
import { MAIL_STATES, memberMail, memberRole } from '../../platform/lib/member.ts'
import { SCOPES } from '../../platform/lib/scope.ts'
import { TEAM_FIELDS } from '../registry/index.ts'

const teamName = shownName(60)

export const newTeam = z.strictObject({ name: teamName })

/** A team created by operators, and the address of its owner, who is invited. */
export const newTeamOf = newTeam.extend({
  mail: memberMail,
  /** The idempotency key: the same id is the same team. A new one if it is left out. */
  team_id: z.uuid().optional(),
})

/** A team with a member's role in it. */
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
  /** False if blocked. */
  is_active: z.boolean(),
  joined_at: z.date(),
})
export type TeamMember = z.output<typeof teamMember>

export const invitation = z.object({
  invitation_id: z.string(),
  mail: z.string(),
  role: memberRole,
  invited_by: z.string().nullable(),
  invited_at: z.date(),
  expires_at: z.date(),
  mail_state: z.enum(MAIL_STATES),
  mail_error: z.string().nullable(),
})
export type Invitation = z.output<typeof invitation>

export const APP_KINDS = ['server', 'page', 'native'] as const

/** The fields of an app that its team controls. */
export const keptTeamFields = z.object(shapeOf(TEAM_FIELDS, 'kept'))

/** The form of an app. */
export const appFields = z
  .strictObject({
    ...shapeOf(TEAM_FIELDS, 'changed'),
    scopes: TEAM_FIELDS.scopes.created,
    kind: z.enum(APP_KINDS),
    /** Why each scope is needed. */
    reasons: z.partialRecord(z.enum(SCOPES), visibleLine(300)),
  })
  .superRefine(({ kind, scopes, reasons, hosts, redirect_uris }, context) => {
    if (redirect_uris.length === 0 && (hosts.length === 0 || kind !== 'server')) {
      const problem = kind === 'server' ? issue('required-without-hosts') : issue('must-have-entry')
      context.addIssue({ ...problem, path: ['redirect_uris'] })
    }
    for (const scope of scopes.filter((scope) => reasons[scope] === undefined)) {
      context.addIssue({ ...issue('must-be-required'), path: ['reasons', scope] })
    }
  })
export type AppFields = z.output<typeof appFields>

/** Other texts name no team: the routes answer 404. */
export const oneTeam = z.strictObject({ team_id: z.uuid() })
export const oneInvitation = oneTeam.extend({ invitation_id: z.uuid() })

/** Ordered by created_at, team_id. */
export const teamFilter = z.strictObject({
  name: filterText(60).optional(),
  ...pageInput(z.tuple([momentKey, z.uuid()])),
})
export type TeamFilter = z.output<typeof teamFilter>

/** `replaces`: the newest secret that the owner saw. */
export const secretReplacement = rotation.extend({ replaces: z.string().max(40) })
export type SecretReplacement = z.output<typeof secretReplacement>

export const REQUEST_STATES = ['open', 'returned', 'approved', 'refused', 'withdrawn'] as const

/** From an operator to the team. */
export const remark = z.string().trim().min(3).max(500)

/** Ordered by asked_at, request_id. */
export const requestFilter = z.strictObject({
  state: z.enum(REQUEST_STATES).default('open'),
  ...pageInput(z.tuple([momentKey, z.uuid()])),
})
export type RequestFilter = z.output<typeof requestFilter>
