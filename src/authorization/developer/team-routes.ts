import type { FastifyPluginAsync, FastifyReply } from 'fastify'
import type { Deps } from '../../platform/deps.ts'
import type { OutputOf } from '../../platform/lib/json/input.ts'
import type { MemberRole } from '../../platform/lib/member.ts'
import { doneQueryOf } from '../../platform/lib/web/done-query.ts'
import type { Translate } from '../../platform/lib/web/locale.ts'
import { STEP_UP } from '../account/index.ts'
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
import { developerGuard, HOME, orRefused, type TeamRequest, translatorOf } from './guard.ts'

const TEAM = `${HOME}/teams/:team_id`

const DONE = {
  renamed: 'developer.team.done_renamed',
  invited: 'developer.team.done_invited',
  role: 'developer.team.done_role',
  removed: 'developer.team.done_removed',
  withdrawn: 'developer.team.done_withdrawn',
} as const
const pageQuery = doneQueryOf(DONE)

type Params = Readonly<Record<'team_id' | 'member_id' | 'invitation_id', string>>
const paramsOf = ({ request }: TeamRequest): Params => request.params as Params

/** A team: who is in it, who is invited, its name. */
export const teamRoutes: FastifyPluginAsync<{ deps: Deps }> = async (app, { deps }) => {
  const { forTeam } = await developerGuard(app, deps)

  async function show(given: TeamRequest, shown: { alert?: string; mail?: string } = {}): Promise<FastifyReply> {
    const { team, request, page } = given
    const t = translatorOf(given)
    const { members, invitations } = await peopleOfTeam(deps, team.team_id)
    const { done } = pageQuery.parse(request.query)
    return page('home', 'developer/team', {
      alert: '',
      mail: '',
      ...shown,
      done: done ? t(DONE[done]) : null,
      team: { id: team.team_id, name: team.name, isOwner: team.role === 'owner' },
      apps: await appsOfTeam(deps, team.team_id),
      members: members.map((member) => shownMember(member, team.member_id)),
      invitations: invitations.map((one) => shownInvitation(one, deps.clock.now(), t)),
    })
  }

  /** A change of the team, and then its page with what was done. */
  const change = (
    given: TeamRequest,
    done: keyof typeof DONE,
    work: () => Promise<unknown>,
    mail = '',
  ): Promise<FastifyReply> =>
    orRefused(
      given,
      async () => {
        await work()
        return given.goTo(`${HOME}/teams/${given.team.team_id}?done=${done}`)
      },
      (alert) => show(given, { alert, mail }),
    )

  /**
   * Owners make secrets of apps, for which they show who they are (secret-routes.ts). So does whoever makes somebody an
   * owner: a stolen session would get the secrets by way of an account of its thief otherwise.
   */
  const unlessStale = async (given: TeamRequest, role: MemberRole, work: () => Promise<FastifyReply>) => {
    if (role === 'owner' && !(await STEP_UP.isFresh(deps, given.person)))
      return STEP_UP.ask(given.reply, `${HOME}/teams/${given.team.team_id}`, true)
    return work()
  }

  app.get(
    TEAM,
    forTeam('developer', (given) => show(given)),
  )

  app.post(
    `${TEAM}/name`,
    forTeam('owner', (given) => {
      const form = renameTeam.input.safeParse(given.request.body)
      if (form.success) {
        return change(given, 'renamed', () => renameTeam(given.deps, given.team.team_id, form.data, given.person))
      }
      given.reply.code(400)
      return show(given, { alert: translatorOf(given)('developer.team.name_unfit') })
    }),
  )

  app.post(
    `${TEAM}/invite`,
    forTeam('owner', (given) => {
      const form = invite.input.safeParse(given.request.body)
      if (form.success) {
        const { mail, role } = form.data
        const work = () => invite(given.deps, given.team.team_id, form.data, given.person)
        return unlessStale(given, role, () => change(given, 'invited', work, mail))
      }
      given.reply.code(400)
      return show(given, { alert: translatorOf(given)('sandbox.members.bad_mail') })
    }),
  )

  app.post(
    `${TEAM}/invitations/:invitation_id/again`,
    forTeam('owner', (given) => {
      const { team_id, invitation_id } = paramsOf(given)
      return change(given, 'invited', () => inviteAgain(given.deps, team_id, invitation_id, given.person))
    }),
  )

  app.post(
    `${TEAM}/invitations/:invitation_id/withdraw`,
    forTeam('owner', (given) => {
      const { team_id, invitation_id } = paramsOf(given)
      return change(given, 'withdrawn', () => withdrawInvitation(given.deps, team_id, invitation_id, given.person))
    }),
  )

  app.post(
    `${TEAM}/members/:member_id/role`,
    forTeam('owner', (given) => {
      const { team_id, member_id } = paramsOf(given)
      const form = setMemberRole.input.safeParse(given.request.body)
      const role = form.data?.role ?? 'developer'
      const work = () => setMemberRole(given.deps, team_id, { role }, member_id, given.person)
      return unlessStale(given, role, () => change(given, 'role', work))
    }),
  )

  app.post(
    `${TEAM}/members/:member_id/remove`,
    forTeam('owner', (given) => {
      const { team_id, member_id } = paramsOf(given)
      return change(given, 'removed', () => removeMember(given.deps, team_id, member_id, given.person))
    }),
  )

  app.post(
    `${TEAM}/leave`,
    forTeam('developer', (given) =>
      orRefused(
        given,
        async () => {
          await leaveTeam(given.deps, given.team.team_id, given.person)
          return given.goTo(HOME)
        },
        (alert) => show(given, { alert }),
      ),
    ),
  )
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
  { invitation_id, mail, role, expires_at, mail_state, mail_error }: People['invitations'][number],
  now: Date,
  t: Translate,
) {
  const isOver = expires_at <= now
  return {
    id: invitation_id,
    mail,
    role,
    detail: isOver ? t('sandbox.members.expired') : t('sandbox.members.invited', { until: '\n' }),
    at: isOver ? null : expires_at.toISOString(),
    problem: mail_error && {
      error: mail_error,
      text: mail_state === 'failed' ? t('sandbox.members.mail_failed') : t('sandbox.members.mail_waiting'),
    },
  }
}
