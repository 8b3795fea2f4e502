import type { FastifyPluginAsync, FastifyReply } from 'fastify'
import type { Deps } from '../../platform/deps.ts'
import { type OutputOf, parseInput } from '../../platform/lib/json/input.ts'
import { invitationInWords, type MemberRole } from '../../platform/lib/member.ts'
import { doneText } from '../../platform/lib/web/done-query.ts'
import { typedText } from '../../platform/lib/web/forms.ts'
import type { Translate } from '../../platform/lib/web/locale.ts'
import { STEP_UP } from '../account/index.ts'
import { pathOf } from '../people/index.ts'
import {
  appsOfTeam,
  invite,
  inviteAgain,
  leaveTeam,
  peopleOfTeam,
  removeMember,
  renameTeam,
  setMemberRole,
  withdrawInvitation,
} from '../teams/index.ts'
import { developerPages, HOME, TEAM, type TeamRequest, withFactor } from './guard.ts'

const done = doneText({
  renamed: 'developer.team.done_renamed',
  invited: 'developer.team.done_invited',
  role: 'developer.team.done_role',
  removed: 'developer.team.done_removed',
  withdrawn: 'developer.team.done_withdrawn',
})

export const teamRoutes: FastifyPluginAsync<{ deps: Deps }> = async (app, { deps }) => {
  const { forTeam } = await developerPages(app, deps)

  async function show(context: TeamRequest, alert = ''): Promise<FastifyReply> {
    const { team, request, page, t } = context
    const { members, invitations } = await peopleOfTeam(deps.db, team.team_id)
    const mail = typedText(context.request.body, 'mail')
    return page('home', 'developer/team', {
      alert,
      mail,
      role: mail && typedText(context.request.body, 'role'), // without an address the role is a member's
      typedName: typedText(context.request.body, 'name'),
      asks: !(await STEP_UP.isFresh(deps, context.person)),
      done: done(request),
      team: { id: team.team_id, name: team.name, isOwner: team.role === 'owner' },
      apps: await appsOfTeam(deps.db, team.team_id),
      members: members.map((member) => shownMember(member, team.member_id)),
      invitations: invitations.map((invitation) => shownInvitation(invitation, deps.clock.now(), t)),
    })
  }

  forTeam.developer.get(TEAM, (context) => show(context))

  const form = { page: TEAM, show }

  /**
   * Making somebody an owner needs a fresh sign-in, like making secrets (secret-routes.ts): otherwise the thief of a
   * session could make their own account an owner, and get at the secrets that way.
   */
  const grantRole = (context: TeamRequest, role: MemberRole | undefined, work: () => Promise<string>) =>
    role === 'owner' ? withFactor(deps, context, form, work) : work()

  /**
   * That somebody is no owner any more needs a fresh sign-in too, or the thief could be the only one left. No second
   * factor: a team whose owners have none could not remove one.
   */
  const endRole = async (context: TeamRequest, memberId: string, work: () => Promise<string>) => {
    const { members } = await peopleOfTeam(deps.db, context.team.team_id)
    const endsOwner = members.some(({ member_id, role }) => member_id === memberId && role === 'owner')
    if (!endsOwner || (await STEP_UP.isFresh(deps, context.person))) return work()
    return STEP_UP.ask(context.reply, pathOf(TEAM, context.request), true)
  }

  const idsOf = ({ request }: TeamRequest) => request.params as Readonly<Record<'member_id' | 'invitation_id', string>>

  const naming = { ...form, unfit: 'developer.team.name_unfit' }
  forTeam.owner.form(`${TEAM}/name`, naming, async ({ deps: acting, team, person, request }) => {
    await renameTeam(acting, team.team_id, parseInput(renameTeam.input, request.body), person)
    return '?done=renamed'
  })

  const inviting = { ...form, unfit: 'invitation.bad_mail' }
  forTeam.owner.form(`${TEAM}/invite`, inviting, async (context) => {
    const who = parseInput(invite.input, context.request.body)
    return grantRole(context, who.role, async () => {
      await invite(context.deps, context.team.team_id, who, context.person)
      return '?done=invited'
    })
  })

  forTeam.owner.form(`${TEAM}/invitations/:invitation_id/again`, form, async (context) => {
    const { invitation_id } = idsOf(context)
    const { team_id } = context.team
    const { invitations } = await peopleOfTeam(deps.db, team_id)
    return grantRole(context, invitations.find((one) => one.invitation_id === invitation_id)?.role, async () => {
      await inviteAgain(context.deps, team_id, invitation_id, context.person)
      return '?done=invited'
    })
  })

  forTeam.owner.form(`${TEAM}/invitations/:invitation_id/withdraw`, form, async (context) => {
    await withdrawInvitation(context.deps, context.team.team_id, idsOf(context).invitation_id, context.person)
    return '?done=withdrawn'
  })

  forTeam.owner.form(`${TEAM}/members/:member_id/role`, form, async (context) => {
    const { member_id } = idsOf(context)
    const chosen = parseInput(setMemberRole.input, context.request.body)
    const work = async () => {
      await setMemberRole(context.deps, context.team.team_id, chosen, member_id, context.person)
      return '?done=role'
    }
    return chosen.role === 'owner' ? withFactor(deps, context, form, work) : endRole(context, member_id, work)
  })

  forTeam.owner.form(`${TEAM}/members/:member_id/remove`, form, async (context) => {
    const { member_id } = idsOf(context)
    return endRole(context, member_id, async () => {
      await removeMember(context.deps, context.team.team_id, member_id, context.person)
      return '?done=removed'
    })
  })

  forTeam.developer.form(`${TEAM}/leave`, form, async (context) => {
    await leaveTeam(context.deps, context.team.team_id, context.person)
    return HOME
  })
}

type People = OutputOf<typeof peopleOfTeam>

const shownMember = ({ member_id, name, role, joined_at }: People['members'][number], self: string) => ({
  id: member_id,
  name,
  role,
  isSelf: member_id === self,
  at: joined_at.toISOString(),
})

const shownInvitation = (
  { invitation_id, mail, role, expires_at: until, ...invitation }: People['invitations'][number],
  now: Date,
  t: Translate,
) => ({ id: invitation_id, mail, role, ...invitationInWords({ until, ...invitation }, now, t) })
