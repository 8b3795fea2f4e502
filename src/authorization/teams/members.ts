import { z } from 'zod'
import type { UserRowKey } from '../../platform/db/personal-rows.ts'
import type { Db } from '../../platform/db/sql.ts'
import type { Deps } from '../../platform/deps.ts'
import { operation } from '../../platform/lib/json/input.ts'
import { type MemberRole, memberRole } from '../../platform/lib/member.ts'
import { isUuid } from '../../platform/lib/uuid.ts'
import { notFound, TeamRefusal } from './errors.ts'
import * as store from './store.ts'
import { changeTeam, recordTeamEvent } from './team.ts'
import type { TeamMember } from './wire.ts'

const isActiveOwner = ({ role, is_active }: TeamMember): boolean => role === 'owner' && is_active

/** Besides this member; a blocked owner can do nothing for the team. */
async function requireAnotherOwner(db: Db, teamId: string, memberId: string): Promise<void> {
  const members = await store.listMembers(db, teamId)
  if (!members.some((member) => member.member_id !== memberId && isActiveOwner(member)))
    throw new TeamRefusal('last_owner')
}

async function memberOf(db: Db, teamId: string, memberId: string) {
  const found = isUuid(memberId) && (await store.findMember(db, teamId, memberId))
  if (!found) throw notFound()
  return found
}

export const setMemberRole = operation(
  z.object({ role: memberRole }),
  (deps: Deps, teamId: string, { role }: { readonly role: MemberRole }, memberId: string, person: UserRowKey) =>
    changeTeam(deps, teamId, { person, role: 'owner' }, async ({ db, record }) => {
      const found = await memberOf(db, teamId, memberId)
      if (found.role === role) return
      if (found.role === 'owner') await requireAnotherOwner(db, teamId, memberId)
      await store.setRole(db, found.member_id, role)
      await record('team_role_set', { member_id: found.member_id, role })
    }),
)

/** Takes effect with the member's next request. */
export const removeMember = (deps: Deps, teamId: string, memberId: string, person: UserRowKey): Promise<void> =>
  changeTeam(deps, teamId, { person, role: 'owner' }, async ({ db, record }) => {
    const found = await memberOf(db, teamId, memberId)
    if (found.role === 'owner') await requireAnotherOwner(db, teamId, memberId)
    await store.deleteMember(db, found.member_id)
    await record('team_member_removed', { member_id: found.member_id, role: found.role })
  })

/** The last owner cannot leave. */
export const leaveTeam = (deps: Deps, teamId: string, person: UserRowKey): Promise<void> =>
  changeTeam(deps, teamId, { person, role: 'developer' }, async ({ db, self, record }) => {
    if (!self) throw notFound()
    if (self.role === 'owner') await requireAnotherOwner(db, teamId, self.member_id)
    await store.deleteMember(db, self.member_id)
    await record('team_left', { member_id: self.member_id, role: self.role })
  })

/**
 * Before a person is erased: teams without another owner who is not blocked get one, the longest-standing member who is
 * not blocked. If all are blocked, an owner stays the only one. In the caller's transaction.
 */
export async function handOverTeams(deps: Deps, person: UserRowKey): Promise<void> {
  const { db } = deps
  await store.lockTeamsOf(db, person) // another owner may be leaving at the same time
  for (const { team_id, role, member_id: own } of await store.teamsOfPerson(db, person)) {
    if (role !== 'owner') continue
    const others = (await store.listMembers(db, team_id)).filter(({ member_id }) => member_id !== own)
    const heir =
      others.find(({ is_active }) => is_active) ?? others.find((other) => other.role === 'owner') ?? others[0]
    if (!heir || heir.role === 'owner' || others.some(isActiveOwner)) continue
    await store.setRole(db, heir.member_id, 'owner')
    const detail = { member_id: heir.member_id, role: 'owner', reason: 'the last owner was erased' }
    await recordTeamEvent(deps, 'team_role_set', team_id, detail)
  }
}
