/** Developers of micro-apps, and the teams in which they work on them. */

export {
  APP_SECRET,
  appsOfPerson,
  appsOfTeam,
  appsOfTeams,
  changeInDevelopment,
  findAppAccess,
  makeTestUsers,
  registerApp,
} from './app.ts'
export type { AppAccess } from './app-store.ts'
export { TeamRefusal } from './errors.ts'
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
export { APP_REQUESTS } from './request.ts'
export { TEAM_RETENTION, TEAMS_OF_PERSON } from './store.ts'
export { acceptTerms, createTeam, findMembership, isDeveloper, peopleOfTeam, renameTeam, teamsOf } from './team.ts'
export { APP_WEBHOOK } from './webhook.ts'
export type { AppFields, Membership } from './wire.ts'
