/** Developers of micro-apps, and the teams in which they work on them. */

export { TEAM_ACTIONS } from './actions.ts'
export { APP_SECRET, APP_WEBHOOK, changeInDevelopment, makeTestUsers, registerApp } from './app.ts'
export { type AppAccess, appsOfPerson, appsOfTeam, appsOfTeams, findAppAccess } from './app-store.ts'
export { TeamRefusal } from './errors.ts'
export { setTeamMailState } from './invitation-store.ts'
export {
  findTeamMail,
  handOverTeams,
  invite,
  inviteAgain,
  joinTeam,
  leaveTeam,
  openInvitation,
  removeMember,
  setMemberRole,
  withdrawInvitation,
} from './members.ts'
export { APP_REQUESTS } from './request.ts'
export { findMembership, isDeveloper, TEAM_RETENTION, TEAMS_OF_PERSON, teamsOfPerson } from './store.ts'
export { acceptTerms, createTeam, peopleOfTeam, renameTeam } from './team.ts'
export type { AppFields, Membership } from './wire.ts'
