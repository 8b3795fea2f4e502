import { invalidRequest, RescodeError } from '../../platform/lib/web/rescode.ts'

/** Why something about teams was refused, with what operators read; pages have texts of their own. */
export const TEAM_REFUSALS = {
  invited_only: 'developers are invited here',
  test_user: 'a test user cannot be a developer',
  teams: 'you have as many teams as one person may have',
  taken: 'this address is invited already',
  full: 'the team has as many members and invitations as it may have',
  invitations: 'too many invitations are open: withdraw some, or wait until they are used',
  mails: 'too many emails were sent today to this address or for this team',
  last_owner: 'the team needs an owner: make somebody else one first',
  not_owner: 'only an owner may do this',
  link_invalid: 'the link is not valid, was used already, or has been replaced by a newer one',
  link_expired: 'the link has expired',
  apps: 'the team has as many apps as it may have',
  asked: 'there is a request already',
  decided: 'this was decided already',
  loopback_only: 'the app has no address but that of its developers',
  changed: 'the secret was changed meanwhile',
  changed_since: 'the app was changed since this was asked for: return it, so that the team asks again',
  live: 'the app is live: what people are shown of it needs approval',
  joined: 'you are a member already',
} as const

export type TeamRefusalReason = keyof typeof TEAM_REFUSALS

export class TeamRefusal extends RescodeError {
  readonly reason: TeamRefusalReason

  constructor(reason: TeamRefusalReason) {
    super(20007, { what: TEAM_REFUSALS[reason] })
    this.reason = reason
  }
}

/** One answer for a team, app or member that does not exist and for one of others. */
export const notFound = (): RescodeError => invalidRequest('no such path', { status: 404 })
