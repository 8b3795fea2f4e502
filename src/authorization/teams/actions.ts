import { randomUUID } from 'node:crypto'
import type { z } from 'zod'
import { recordAudit } from '../../platform/audit/index.ts'
import { pageNamed } from '../../platform/db/page.ts'
import type { Db } from '../../platform/db/sql.ts'
import { type Deps, inTransaction } from '../../platform/deps.ts'
import { action, type Shown } from '../../platform/lib/action.ts'
import { fullDays } from '../../platform/lib/clock.ts'
import { InvalidInput, type OutputOf } from '../../platform/lib/json/input.ts'
import { localized } from '../../platform/lib/localized-text.ts'
import { isUuid } from '../../platform/lib/uuid.ts'
import { maskedMail } from '../../platform/lib/web/admin-auth.ts'
import { lockMicroApp, type MicroApp, oneApp, showMicroApp, updateMicroApp } from '../registry/index.ts'
import { appsOfTeam, withdrawOpen } from './app-store.ts'
import { notFound } from './errors.ts'
import { inviteAgain, sendInvitation } from './members.ts'
import { approveRequest, listRequests, oneRequest, refuseRequest, returnRequest, showRequest } from './request.ts'
import * as store from './store.ts'
import { makeTeam, peopleOfTeam, recordTeamEvent, teamNameOf } from './team.ts'
import { newTeam, newTeamOf, oneInvitation, oneTeam, type TeamFilter, teamFilter } from './wire.ts'

/** The team by id, or by name if that is unique. */
const givenApp = oneApp.extend({ team_id: newTeam.shape.name })

/** Names in the form that gives an app to a team; others can be typed. */
const MOST_OFFERED = 200

const listTeams = ({ db, clock }: Deps, filter: TeamFilter) =>
  pageNamed('teams', store.listTeams(db, clock.now(), filter))

/** Throws 404. Expired invitations are listed until they are removed: they too can be sent again. */
async function showTeam(deps: Deps, { team_id }: z.output<typeof oneTeam>) {
  const team = await store.findTeam(deps.db, team_id)
  if (!team) throw notFound()
  return { ...team, ...(await peopleOfTeam(deps.db, team_id)), apps: await appsOfTeam(deps.db, team_id) }
}
type TeamShown = Awaited<ReturnType<typeof showTeam>>

/** A team whose owner is invited by mail. */
const createTeam = (deps: Deps, { name, mail, team_id: given }: z.output<typeof newTeamOf>) =>
  inTransaction(deps, async (inside, db): Promise<{ team_id: string }> => {
    if (given && (await store.findTeam(db, given))?.name === name) return { team_id: given }
    const team_id = await makeTeam(inside, { name, teamId: given })
    await sendInvitation(inside, team_id, { mail, role: 'owner' }, null)
    return { team_id }
  })

/** The former team's requests and webhook end: it would go on reading whose access has ended. */
const giveApp = (
  deps: Deps,
  { app_key, team_id: named }: z.output<typeof givenApp>,
): Promise<{ app_key: string; team_id: string; webhook_removed: boolean }> =>
  inTransaction(deps, async (inside, db) => {
    await showMicroApp(inside, app_key) // throws 404
    const team_id = await teamOf(db, named)
    await lockMicroApp(db, app_key) // waits for changes by its former team
    const former = await store.teamOfApp(db, app_key)
    if (former?.team_id === team_id) return { app_key, team_id, webhook_removed: false }
    const given = await showMicroApp(inside, app_key)
    const webhook_removed = given.webhook_url !== null && former !== undefined
    if (webhook_removed) await updateMicroApp(inside, app_key, { webhook_url: null })
    await store.giveApp(db, app_key, team_id, kindOf(given), deps.clock.now())
    await withdrawOpen(db, app_key, deps.clock.now())
    await recordAudit(inside, { event: 'app_given', appKey: app_key, detail: { team_id } })
    return { app_key, team_id, webhook_removed }
  })

interface ForTeam {
  readonly team_id: string | undefined
  readonly mail: string | undefined
}

/** Gives the app to that team, or to a new one of its name, and invites `mail` there: as the owner if it is new. */
async function giveNew(deps: Deps, { app_key, name }: MicroApp, { team_id, mail }: ForTeam): Promise<void> {
  const given = team_id ?? (await makeTeam(deps, { name: teamNameOf({ name }) }))
  const team = await giveApp(deps, { app_key, team_id: given })
  if (mail === undefined) return
  const role = team_id === undefined ? 'owner' : 'developer'
  const invitation_id = await sendInvitation(deps, team.team_id, { mail, role }, null)
  await recordTeamEvent(deps, 'team_member_invited', team.team_id, { invitation_id, role })
}

/** Where an app runs that operators have registered. */
const kindOf = ({ token_auth_methods, cors_origins }: Awaited<ReturnType<typeof showMicroApp>>) =>
  !token_auth_methods.includes('none') ? 'server' : cors_origins.length > 0 ? 'page' : 'native'

async function teamOf(db: Db, given: string): Promise<string> {
  const [team_id, another] = isUuid(given) ? [given] : await store.teamsNamed(db, given)
  if (another) throw new InvalidInput([{ field: 'team_id', problem: localized('several-teams') }])
  if (team_id && (await store.lockTeam(db, team_id))) return team_id
  throw new InvalidInput([{ field: 'team_id', problem: localized('no-team') }])
}

type Change = OutputOf<typeof showRequest>['changes'][number]

const ofApp = async ({ db }: Deps, { app_key }: z.output<typeof oneApp>) =>
  (await store.teamOfApp(db, app_key)) ?? { team: null, team_id: null }

const offers = async ({ db }: Deps) => ({ team_id: await store.teamsToOffer(db, MOST_OFFERED) })

const rows = [
  action({
    route: 'GET /teams',
    command: 'team list',
    role: 'viewer',
    input: teamFilter,
    run: listTeams,
    list: {
      rows: 'teams',
      columns: ['team_id', 'name', 'members', 'owners', 'invitations', 'apps', 'created_at'],
    },
  }),
  action({
    route: 'GET /teams/:team_id',
    command: 'team show',
    role: 'viewer',
    input: oneTeam,
    run: showTeam,
    noSuch: notFound,
    masked: ({ members, invitations, ...team }) => ({
      ...team,
      members: members.map((member) => ({ ...member, name: maskedMail(member.name) })),
      invitations: invitations.map((one) => ({ ...one, mail: maskedMail(one.mail) })),
    }),
    parts: {
      members: [
        'name',
        'role',
        { name: 'status', of: ({ is_active }) => (is_active ? 'active' : 'blocked') },
        'joined_at',
      ] satisfies Shown<TeamShown['members'][number]>[],
      invitations: ['mail', 'role', 'mail_state', 'invited_at', 'expires_at'],
      apps: ['app_key', 'name', 'status', 'stage'],
    },
    related: ({ team_id }) => [
      { operation: 'GET /audit', text: 'console.field.history', page: ['/audit', { target: `team:${team_id}` }] },
    ],
  }),
  action({
    route: 'POST /teams/:team_id/invitations/:invitation_id/send',
    command: 'team invite-again',
    arguments: ['team_id', 'invitation_id'],
    role: 'editor',
    input: oneInvitation,
    run: async (deps: Deps, { team_id, invitation_id }) => {
      await inviteAgain(deps, team_id, invitation_id, undefined)
      return { invitation_id }
    },
    noSuch: notFound,
  }),
  action({
    route: 'POST /teams',
    command: 'team create',
    role: 'editor',
    input: newTeamOf,
    run: createTeam,
    mainFields: ['name', 'mail'],
    suggested: () => ({ team_id: randomUUID() }), // a form that is sent twice creates one team
  }),
  action({
    route: 'POST /apps/:app_key/give',
    command: 'app give',
    role: 'editor',
    input: givenApp,
    run: giveApp,
    offers,
  }),
  action({
    route: 'GET /app-requests',
    command: 'app request list',
    role: 'viewer',
    run: listRequests,
    list: {
      rows: 'requests',
      columns: [
        'request_id',
        'name',
        'kind',
        'team',
        'app_key',
        'asked_at',
        {
          name: 'waiting_days',
          of: ({ asked_at }, _t, now) => fullDays(asked_at, now),
        },
      ],
    },
  }),
  action({
    route: 'GET /app-requests/:request_id',
    command: 'app request show',
    role: 'viewer',
    input: oneRequest,
    run: showRequest,
    parts: {
      reasons: [],
      changes: [
        { name: 'field', of: ({ field }, t) => t(`field.${field}`) },
        'in_force',
        'asked',
      ] satisfies Shown<Change>[],
    },
    related: ({ app_key }) => [
      { operation: 'GET /apps/:app_key', text: 'action.app_show', page: ['/apps/:app_key', { app_key }] },
    ],
  }),
  action({
    route: 'POST /app-requests/:request_id/approve',
    command: 'app request approve',
    role: 'editor',
    input: oneRequest,
    run: approveRequest,
    offered: ({ state }) => state === 'open',
  }),
  action({
    route: 'POST /app-requests/:request_id/return',
    command: 'app request return',
    role: 'editor',
    run: returnRequest,
    offered: ({ state }) => state === 'open',
  }),
  action({
    route: 'POST /app-requests/:request_id/refuse',
    command: 'app request refuse',
    role: 'editor',
    dangerous: true,
    run: refuseRequest,
    offered: ({ state }) => state === 'open',
  }),
]

/** Operations on teams of developers, for operators, and what those on apps do with teams. */
export const TEAM_ACTIONS = { rows, ofApps: { ofApp, offers, giveNew } }
