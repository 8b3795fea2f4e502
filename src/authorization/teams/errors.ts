import { localized } from '../../platform/lib/localized-text.ts'
import { invalidRequest, RescodeError } from '../../platform/lib/web/rescode.ts'

/** Refusals, with the text that operators read; pages have texts of their own. */
export const TEAM_REFUSALS = {
  invited_only: 'developers-invited',
  test_user: 'test-user-developer',
  teams: 'many-teams',
  taken: 'address-invited',
  full: 'team-full',
  invitations: 'team-invitations',
  mails: 'team-mails',
  last_owner: 'team-owner',
  not_owner: 'owners-only',
  link_invalid: 'link-replaced',
  link_expired: 'link-over',
  apps: 'many-apps',
  asked: 'asked-already',
  requests: 'team-requests',
  unchanged: 'nothing-asked',
  decided: 'decided-already',
  loopback_only: 'developers-address',
  changed: 'secret-changed',
  changed_since: 'changed-since-asked',
  live: 'app-live',
  joined: 'member-already',
} as const

type TeamRefusalReason = keyof typeof TEAM_REFUSALS

export class TeamRefusal extends RescodeError {
  readonly reason: TeamRefusalReason

  constructor(reason: TeamRefusalReason) {
    super(20007, { what: localized(TEAM_REFUSALS[reason]) })
    this.reason = reason
  }
}

/** The same for a team, app or member that does not exist and for somebody else's. */
export const notFound = (): RescodeError => invalidRequest(localized('wrong-path'), { status: 404 })
