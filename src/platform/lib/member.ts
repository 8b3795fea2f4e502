import { z } from 'zod'
import { DAY_S } from './clock.ts'
import { problem } from './json/field-problem.ts'
import { normalName } from './precis.ts'
import type { Translate } from './web/locale.ts'

/** Roles in a partner or a developers' team. Only owners manage members and do what cannot be undone. */
export const MEMBER_ROLES = ['owner', 'developer'] as const
export type MemberRole = (typeof MEMBER_ROLES)[number]

export const memberMail = z
  .string()
  .trim()
  .overwrite(normalName)
  .max(254)
  .regex(z.regexes.email, problem('must-be-mail'))

/** The form in which a mail address is unique within a partner or team. Addresses are ASCII (above). */
export const mailKeyOf = (mail: string): string => mail.toLowerCase()

export const memberRole = z.enum(MEMBER_ROLES)

export const newMember = z.strictObject({ mail: memberMail, role: memberRole })
export type NewMember = z.output<typeof newMember>

/** Members and invitations of one partner or team together. */
export const MAX_MEMBERS = 50
export const MAX_INVITATIONS = 20
export const INVITATION_LIFETIME_S = 7 * DAY_S

export const MAIL_STATES = ['waiting', 'sent', 'failed'] as const
export type MailState = (typeof MAIL_STATES)[number]
// Never reached: a mail is retried until its link expires, at most every ten minutes.
export const LINK_MAIL_ATTEMPTS = 2_000

interface OpenInvitation {
  /** False if whoever sent it may no longer invite. */
  readonly counts: boolean
  readonly until: Date | null
  readonly mail_state: MailState | null
  readonly mail_error: string | null
}

/** An invitation in words, with a line feed in the place of `at`, and why its mail has not arrived. */
export function invitationInWords({ counts, until, mail_state, mail_error }: OpenInvitation, now: Date, t: Translate) {
  const text = t(mail_state === 'failed' ? 'invitation.mail_failed' : 'invitation.mail_waiting')
  const problem = mail_error && { error: mail_error, text }
  if (!counts) return { detail: t('invitation.ended'), at: null, problem }
  if (!until || until <= now) return { detail: t('invitation.expired'), at: null, problem }
  return { detail: t('invitation.invited', { until: '\n' }), at: until.toISOString(), problem }
}
