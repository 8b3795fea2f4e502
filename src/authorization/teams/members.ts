import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { enqueue } from '../../platform/db/jobs-store.ts'
import type { UserRowKey } from '../../platform/db/personal-rows.ts'
import type { Db } from '../../platform/db/sql.ts'
import type { Deps } from '../../platform/deps.ts'
import { wholeSecondsAfter } from '../../platform/lib/clock.ts'
import { linkToken, prefixOfLink, sentToken } from '../../platform/lib/crypto/link-token.ts'
import { parseToken } from '../../platform/lib/crypto/opaque-token.ts'
import { operation } from '../../platform/lib/json/input.ts'
import {
  INVITATION_LIFETIME_S,
  LINK_MAIL_ATTEMPTS,
  MAX_INVITATIONS,
  MAX_MEMBERS,
  type MemberRole,
  mailKeyOf,
  memberRole,
  type NewMember,
  newMember,
} from '../../platform/lib/member.ts'
import { isUuid } from '../../platform/lib/uuid.ts'
import { mayInvite } from '../../platform/throttle/index.ts'
import type { SignedIn } from '../account/index.ts'
import { notFound, TeamRefusal } from './errors.ts'
import * as invitations from './invitation-store.ts'
import * as store from './store.ts'
import { becomeDeveloper, changeTeam, invitationCounts, MAX_TEAMS, recordTeamEvent } from './team.ts'
import type { Invitation, TeamMember } from './wire.ts'

/** A new link, whose mail is queued in the caller's transaction. */
async function newLink({ db, keys, clock }: Deps, invited_by: string | null) {
  const linkId = randomUUID()
  const until = wholeSecondsAfter(clock.now(), INVITATION_LIFETIME_S)
  const { hash, expiresAt } = linkToken(keys, 'team', { linkId, expiresAt: until })
  await enqueue(db, 'send-team-mail', { linkId }, { key: `team-mail:${linkId}`, maxAttempts: LINK_MAIL_ATTEMPTS })
  return { link_id: linkId, link_hash: hash, expires_at: expiresAt, invited_by }
}

/** Throws TeamRefusal. The caller has locked the team. */
async function refuseIfFull({ db, clock }: Deps, teamId: string): Promise<void> {
  const open = await invitations.countOpen(db, teamId, clock.now())
  if ((await store.countMembers(db, teamId)) + open >= MAX_MEMBERS) throw new TeamRefusal('full')
  if (open >= MAX_INVITATIONS) throw new TeamRefusal('invitations')
}

/** `by`: the owner who invites, if it is no operator. In the caller's transaction, which has locked the team. */
export async function sendInvitation(deps: Deps, teamId: string, { mail, role }: NewMember, by: string | null) {
  await refuseIfFull(deps, teamId)
  const invitation_id = randomUUID()
  const invited = { invitation_id, mail, mail_key: mailKeyOf(mail), role, ...(await newLink(deps, by)) }
  const now = deps.clock.now()
  if ((await invitations.insertInvitation(deps.db, teamId, invited, now)) === 0) throw new TeamRefusal('taken')
  if (!(await mayInvite(deps, `team ${teamId}`, mail))) throw new TeamRefusal('mails')
  return invitation_id
}

export const invite = operation(
  newMember,
  (deps: Deps, teamId: string, who: NewMember, person: UserRowKey): Promise<void> =>
    changeTeam(deps, teamId, { person, role: 'owner' }, async ({ deps: inside, self, record }) => {
      const invitation_id = await sendInvitation(inside, teamId, who, self?.member_id ?? null)
      await record('team_member_invited', { invitation_id, role: who.role })
    }),
)

async function invitationOf(db: Db, teamId: string, invitationId: string): Promise<Invitation> {
  const found = isUuid(invitationId) && (await invitations.findInvitation(db, teamId, invitationId))
  if (!found) throw notFound()
  return found
}

/** Sends the invitation again with a new link; the old link stops working. Without `person`, an operator does. */
export const inviteAgain = (deps: Deps, teamId: string, invitationId: string, person: UserRowKey | undefined) =>
  changeTeam(deps, teamId, { person, role: 'owner' }, async ({ db, deps: inside, now, self, record }) => {
    const found = await invitationOf(db, teamId, invitationId)
    if (found.expires_at <= now) await refuseIfFull(inside, teamId) // expired ones are not counted
    if (!(await mayInvite(inside, `team ${teamId}`, found.mail))) throw new TeamRefusal('mails')
    const link = await newLink(inside, self?.member_id ?? null)
    await invitations.replaceLink(db, found.invitation_id, link, now)
    await record('team_member_invited', { invitation_id: found.invitation_id, role: found.role, again: true })
  })

export const withdrawInvitation = (deps: Deps, teamId: string, invitationId: string, person: UserRowKey) =>
  changeTeam(deps, teamId, { person, role: 'owner' }, async ({ db, record }) => {
    const found = await invitationOf(db, teamId, invitationId)
    await invitations.deleteInvitation(db, found.invitation_id)
    await record('team_invitation_withdrawn', { invitation_id: found.invitation_id })
  })

/** Looks up the invitation of a link. Throws TeamRefusal; forged and expired tokens cost no statement. */
export async function openInvitation({ db, clock, keys }: Deps, token: string) {
  const parsed = parseToken(keys, prefixOfLink('team'), token)
  if (!parsed) throw new TeamRefusal('link_invalid')
  if (parsed.expiresAt <= clock.now()) throw new TeamRefusal('link_expired')
  const found = await invitations.findByLink(db, parsed.hash)
  if (!found || !(await invitationCounts(db, found))) throw new TeamRefusal('link_invalid')
  return found
}

/** Joins the team of the link and accepts the terms. Of concurrent calls one succeeds. Throws TeamRefusal. */
export async function joinTeam(deps: Deps, token: string, person: SignedIn): Promise<string> {
  await openInvitation(deps, token)
  return becomeDeveloper(deps, person, async (inside) => {
    const { team_id: teamId } = await openInvitation(inside, token)
    return changeTeam(inside, teamId, { person: undefined, role: 'developer' }, async ({ db, now, record }) => {
      const { invitation_id, role } = await openInvitation(inside, token) // may have been replaced or ended meanwhile
      if (await store.findMembership(db, person, teamId)) throw new TeamRefusal('joined')
      if ((await store.teamsOfPerson(db, person)).length >= MAX_TEAMS) throw new TeamRefusal('teams')
      if (!(await invitations.deleteInvitation(db, invitation_id))) throw new TeamRefusal('link_invalid')
      const memberId = randomUUID()
      await store.insertMember(db, person, { teamId, memberId, role }, now)
      await record('team_joined', { by: person, member_id: memberId, role })
      return teamId
    })
  })
}

/** A mail still to be sent. `token` is a secret: it goes into the mail and nowhere else. */
export async function findTeamMail({ db, clock, keys }: Deps, linkId: string) {
  const found = await invitations.findUnsent(db, linkId, clock.now())
  if (!found || !(await invitationCounts(db, found))) return undefined
  const { mail, team_name: team, expires_at: expiresAt, link_hash } = found
  const token = sentToken(keys, 'team', { linkId, expiresAt }, link_hash)
  return token === undefined ? undefined : { mail, team, expiresAt, token }
}

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
