import { randomUUID } from 'node:crypto'
import { asPerson, recordAudit, recordByPerson } from '../../platform/audit/index.ts'
import type { UserRowKey } from '../../platform/db/personal-rows.ts'
import type { Db } from '../../platform/db/sql.ts'
import { type Deps, inTransaction } from '../../platform/deps.ts'
import { InvalidInput, operation } from '../../platform/lib/json/input.ts'
import { localized } from '../../platform/lib/localized-text.ts'
import type { MemberRole } from '../../platform/lib/member.ts'
import { cutTo } from '../../platform/lib/storable.ts'
import { lockUser, type SignedIn } from '../account/index.ts'
import { countApps } from './app-store.ts'
import { notFound, TeamRefusal } from './errors.ts'
import { listInvitations } from './invitation-store.ts'
import * as store from './store.ts'
import { type Invitation, type Membership, newTeam, type TeamMember } from './wire.ts'

export const MAX_TEAMS = 10

/** `detail` holds ids and roles, no addresses. */
export const recordTeamEvent = (
  deps: Deps,
  event: `team_${string}`,
  teamId: string,
  { by, ...detail }: { readonly by?: UserRowKey | undefined; readonly [name: string]: unknown },
) => recordAudit(by ? { ...deps, actor: asPerson(deps.actor, by) } : deps, { event, target: `team:${teamId}`, detail })

/** Long names are truncated, never inside a character. */
export const teamNameOf = ({ name }: Pick<SignedIn, 'name'>): string =>
  newTeam.shape.name.safeParse(cutTo(name, 60)).data ?? 'Team'

/** Accepts the terms and creates a team for the person. Throws TeamRefusal if developers need an invitation. */
export async function acceptTerms(deps: Deps, person: SignedIn): Promise<void> {
  if (deps.config.DEVELOPERS !== 'open') throw new TeamRefusal('invited_only')
  await becomeDeveloper(deps, person, async (inside) => {
    if ((await store.teamsOfPerson(inside.db, person)).length > 0) return
    await makeTeam(inside, { name: teamNameOf(person), owner: person })
  })
}

/** Idempotent. Runs `work` in the same transaction. */
export const becomeDeveloper = <Done>(deps: Deps, person: SignedIn, work: (inside: Deps) => Promise<Done>) =>
  inTransaction(deps, async (inside, db) => {
    if (person.testOf !== null) throw new TeamRefusal('test_user')
    if (!(await lockUser(db, person))) throw notFound()
    if ((await store.insertDeveloper(db, person, deps.clock.now())) > 0)
      await recordByPerson(inside, person, 'developer_terms_accepted')
    return work(inside)
  })

/** Without `owner`, a team that nobody is in yet. Throws InvalidInput if the id is taken. */
export async function makeTeam(
  deps: Deps,
  { name, owner, teamId = randomUUID() }: { name: string; owner?: UserRowKey; teamId?: string | undefined },
): Promise<string> {
  const now = deps.clock.now()
  if ((await store.insertTeam(deps.db, teamId, name, now)) === 0)
    throw new InvalidInput([{ field: 'team_id', problem: localized('already-taken') }])
  if (owner) await store.insertMember(deps.db, owner, { teamId, memberId: randomUUID(), role: 'owner' }, now)
  await recordTeamEvent(deps, 'team_created', teamId, { by: owner })
  return teamId
}

/** Another team, owned by this developer. Sent again before anything was done with it, the form gets the same team. */
export const createTeam = operation(
  newTeam,
  (deps: Deps, { name }, person: UserRowKey): Promise<string> =>
    inTransaction(deps, async (inside, db) => {
      if (!(await lockUser(db, person))) throw notFound()
      // Serialises concurrent requests, so that both are counted.
      if (!(await store.lockDeveloper(db, person))) throw notFound()
      const teams = await store.teamsOfPerson(db, person)
      const same = teams.find((team) => team.name === name && team.role === 'owner')
      if (same && (await isUnused(db, same))) return same.team_id
      if (teams.length >= MAX_TEAMS) throw new TeamRefusal('teams')
      return makeTeam(inside, { name, owner: person })
    }),
)

const isUnused = async (db: Db, { team_id }: Membership): Promise<boolean> =>
  (await store.countMembers(db, team_id)) === 1 && (await countApps(db, team_id)) === 0

/** An invitation counts only while who sent it might send it. */
const countsAmong = (members: readonly TeamMember[], { invited_by }: Pick<Invitation, 'invited_by'>): boolean =>
  invited_by === null ||
  members.some(({ member_id, role, is_active }) => member_id === invited_by && role === 'owner' && is_active)

export const invitationCounts = async (
  db: Db,
  invited: Pick<Invitation, 'invited_by'> & { readonly team_id: string },
): Promise<boolean> => countsAmong(await store.listMembers(db, invited.team_id), invited)

export async function peopleOfTeam(db: Db, teamId: string) {
  const members = await store.listMembers(db, teamId)
  const invitations = await listInvitations(db, teamId)
  return { members, invitations: invitations.map((one) => ({ ...one, counts: countsAmong(members, one) })) }
}

interface TeamChange {
  readonly db: Db
  readonly deps: Deps
  readonly now: Date
  /** Membership of the actor; undefined if there is no `person`. */
  readonly self: Membership | undefined
  readonly record: (event: `team_${string}`, detail: object) => Promise<unknown>
}

/** Locks the team. Throws 404 unless `person` is a member, TeamRefusal if not an owner; without it neither is checked. */
export const changeTeam = <Done>(
  deps: Deps,
  teamId: string,
  { person, role }: { readonly person: UserRowKey | undefined; readonly role: MemberRole },
  work: (change: TeamChange) => Promise<Done>,
): Promise<Done> =>
  inTransaction(deps, async (inside, db) => {
    if (!(await store.lockTeam(db, teamId))) throw notFound()
    const self = person && (await store.findMembership(db, person, teamId))
    if (person && !self) throw notFound()
    if (self && role === 'owner' && self.role !== 'owner') throw new TeamRefusal('not_owner')
    const record: TeamChange['record'] = (event, detail) =>
      recordTeamEvent(inside, event, teamId, { by: person, ...detail })
    return work({ db, deps: inside, now: deps.clock.now(), self, record })
  })

export const renameTeam = operation(
  newTeam,
  (deps: Deps, teamId: string, { name }: { readonly name: string }, person: UserRowKey): Promise<void> =>
    changeTeam(deps, teamId, { person, role: 'owner' }, async ({ db, record }) => {
      await store.renameTeam(db, teamId, name)
      await record('team_renamed', {})
    }),
)
