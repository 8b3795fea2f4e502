import type { FastifyPluginAsync, FastifyReply } from 'fastify'
import type { Deps } from '../../platform/deps.ts'
import { type OutputOf, parseInput } from '../../platform/lib/json/input.ts'
import type { MemberRole } from '../../platform/lib/member.ts'
import { doneText } from '../../platform/lib/web/done-query.ts'
import type { Translate } from '../../platform/lib/web/locale.ts'
import { STEP_UP } from '../account/index.ts'
import { typedText } from '../people/index.ts'
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
import { developerPages, HOME, orRefused, sensitive, TEAM, type TeamRequest } from './guard.ts'

const done = doneText({
  renamed: 'developer.team.done_renamed',
  invited: 'developer.team.done_invited',
  role: 'developer.team.done_role',
  removed: 'developer.team.done_removed',
  withdrawn: 'developer.team.done_withdrawn',
})

const pathOf = ({ team }: TeamRequest): string => `${HOME}/teams/${team.team_id}`

type Ids = Readonly<Record<'member_id' | 'invitation_id', string>>

/** A team: members, invitations, name. */
export const teamRoutes: FastifyPluginAsync<{ deps: Deps }> = async (app, { deps }) => {
  const { forTeam } = await developerPages(app, deps)

  async function show(context: TeamRequest, alert = ''): Promise<FastifyReply> {
    const { team, request, page, t } = context
    const { members, invitations } = await peopleOfTeam(deps, team.team_id)
    const mail = typedText(context, 'mail')
    return page('home', 'developer/team', {
      alert,
      mail,
      role: mail && typedText(context, 'role'), // without an address the role is a member's
      typedName: typedText(context, 'name'),
      asks: !(await STEP_UP.isFresh(deps, context.person)),
      done: done(request),
      team: { id: team.team_id, name: team.name, isOwner: team.role === 'owner' },
      apps: await appsOfTeam(deps, team.team_id),
      members: members.map((member) => shownMember(member, team.member_id)),
      invitations: invitations.map((invitation) => shownInvitation(invitation, deps.clock.now(), t)),
    })
  }

  forTeam.developer.get(TEAM, (context) => show(context))

  /**
   * Making somebody an owner needs a fresh sign-in, like making secrets (secret-routes.ts): otherwise the thief of a
   * session could make their own account an owner, and get at the secrets that way.
   */
  const grantRole = (context: TeamRequest, role: MemberRole | undefined, work: () => Promise<string>) =>
    role === 'owner'
      ? sensitive(deps, context, { path: pathOf(context), show: (alert) => show(context, alert), work })
      : work()

  /**
   * That somebody is no owner any more needs a fresh sign-in too, or the thief could be the only one left. No second
   * factor: a team whose owners have none could not remove one.
   */
  const endRole = async (context: TeamRequest, memberId: string, work: () => Promise<string>) => {
    const { members } = await peopleOfTeam(deps, context.team.team_id)
    const endsOwner = members.some(({ member_id, role }) => member_id === memberId && role === 'owner')
    if (endsOwner && !(await STEP_UP.isFresh(deps, context.person)))
      return STEP_UP.ask(context.reply, pathOf(context), true)
    return work()
  }

  /** A form on the page of the team. */
  const change = (
    role: MemberRole,
    path: string,
    work: (context: TeamRequest, ids: Ids) => Promise<FastifyReply | string>,
    unfit?: string,
  ) =>
    forTeam[role].form(`${TEAM}/${path}`, TEAM, (context) =>
      orRefused(context, {
        work: () => work(context, context.request.params as Ids),
        show: (alert) => show(context, alert),
        ...(unfit === undefined ? {} : { unfit }),
      }),
    )

  const rename = async ({ deps: acting, team, person, request }: TeamRequest) => {
    await renameTeam(acting, team.team_id, parseInput(renameTeam.input, request.body), person)
    return '?done=renamed'
  }
  change('owner', 'name', rename, 'developer.team.name_unfit')

  const inviteTyped = async (context: TeamRequest) => {
    const { deps: acting, team, person, request } = context
    const who = parseInput(invite.input, request.body)
    return grantRole(context, who.role, async () => {
      await invite(acting, team.team_id, who, person)
      return '?done=invited'
    })
  }
  change('owner', 'invite', inviteTyped, 'sandbox.members.bad_mail')

  change('owner', 'invitations/:invitation_id/again', async (context, { invitation_id }) => {
    const { deps: acting, team, person } = context
    const { invitations } = await peopleOfTeam(deps, team.team_id)
    return grantRole(context, invitations.find((one) => one.invitation_id === invitation_id)?.role, async () => {
      await inviteAgain(acting, team.team_id, invitation_id, person)
      return '?done=invited'
    })
  })

  change('owner', 'invitations/:invitation_id/withdraw', async ({ deps: acting, team, person }, { invitation_id }) => {
    await withdrawInvitation(acting, team.team_id, invitation_id, person)
    return '?done=withdrawn'
  })

  change('owner', 'members/:member_id/role', async (context, { member_id }) => {
    const { deps: acting, team, person, request } = context
    const { role } = parseInput(setMemberRole.input, request.body)
    const work = async () => {
      await setMemberRole(acting, team.team_id, { role }, member_id, person)
      return '?done=role'
    }
    return role === 'owner' ? grantRole(context, role, work) : endRole(context, member_id, work)
  })

  change('owner', 'members/:member_id/remove', async (context, { member_id }) => {
    const { deps: acting, team, person } = context
    return endRole(context, member_id, async () => {
      await removeMember(acting, team.team_id, member_id, person)
      return '?done=removed'
    })
  })

  change('developer', 'leave', async ({ deps: acting, team, person }) => {
    await leaveTeam(acting, team.team_id, person)
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

function shownInvitation(
  { invitation_id, mail, role, counts, expires_at, mail_state, mail_error }: People['invitations'][number],
  now: Date,
  t: Translate,
) {
  const isOver = expires_at <= now || !counts
  return {
    id: invitation_id,
    mail,
    role,
    detail: isOver
      ? t(counts ? 'sandbox.members.expired' : 'sandbox.members.ended')
      : t('sandbox.members.invited', { until: '\n' }),
    at: isOver ? null : expires_at.toISOString(),
    problem: mail_error && {
      error: mail_error,
      text: mail_state === 'failed' ? t('sandbox.members.mail_failed') : t('sandbox.members.mail_waiting'),
    },
  }
}
