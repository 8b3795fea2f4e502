/** Developers of micro-apps, and the teams in which they work on them. */

export { type AppFields, appsOfTeam, changeInDevelopment, findAppAccess, makeTestUsers, registerApp } from './app.ts'
export type { AppAccess } from './app-store.ts'
export { TEAM_REFUSALS, TeamRefusal, type TeamRefusalReason } from './errors.ts'
export { TEAM_RETENTION } from './invitation-store.ts'
export {
  findTeamMail,
  invite,
  inviteAgain,
  joinTeam,
  markTeamMail,
  openInvitation,
  withdrawInvitation,
} from './invite.ts'
export { handOverTeams, leaveTeam, removeMember, setMemberRole } from './members.ts'
export { TEAM_ACTIONS } from './operator.ts'
export { endTokens, newestSecret, rotateAppSecret } from './secret.ts'
export { TEAMS_OF_PERSON } from './store.ts'
export { acceptTerms, createTeam, findMembership, isDeveloper, peopleOfTeam, renameTeam, teamsOf } from './team.ts'
export { type Membership, newTeam } from './wire.ts'
