import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import type { Deps } from '../../../platform/deps.ts'
import { type OutputOf, parseInput } from '../../../platform/lib/json/input.ts'
import { invitationInWords } from '../../../platform/lib/member.ts'
import { doneText } from '../../../platform/lib/web/done-query.ts'
import { seeOther } from '../../../platform/lib/web/envelope.ts'
import { type Locale, translator } from '../../../platform/lib/web/locale.ts'
import { localeOfRequest, textsFor } from '../../../platform/lib/web/page.ts'
import { RescodeError } from '../../../platform/lib/web/rescode.ts'
import {
  inviteAgain,
  inviteMember,
  listMembers,
  MemberRefusal,
  removeMember,
  setMemberRole,
} from '../../../ticketing/members/index.ts'
import { HOME, onBehalfOf, partnerOf, sendSandboxPage } from '../guard.ts'
import { folderOfUnsent } from '../notify/mail.ts'
import type { SignedInPartner } from '../session.ts'
import { memberRefusalText, roleName } from '../texts.ts'
import { asTyped, inviteForm, roleForm } from '../wire.ts'

type Member = OutputOf<typeof listMembers>[number]

function membersShown(members: readonly Member[], { memberId }: SignedInPartner, now: Date, locale: Locale) {
  const t = translator(locale)
  const membership = ({ joined_at, invited_until: until, invitation_counts: counts, ...mail }: Member) =>
    joined_at
      ? { detail: t('sandbox.members.joined', { at: '\n' }), at: joined_at.toISOString(), problem: null }
      : invitationInWords({ counts, until, ...mail }, now, t)
  return {
    members: members.map((member) => ({
      id: member.member_id,
      mail: member.mail,
      isOwner: member.role === 'owner',
      role: roleName(member.role, t),
      joined: member.joined_at !== null,
      /** The person viewing the page. */
      isSelf: member.member_id === memberId,
      ...membership(member),
    })),
    /** Signed in with the clientSecret, which is possible until somebody has joined. */
    bySecret: memberId === null,
    /** Until an owner has joined, only owners can be invited. */
    ownersFirst: !members.some(({ role, joined_at }) => role === 'owner' && joined_at !== null),
  }
}

const MEMBERS = `${HOME}/members`

const DONE = {
  invited: 'sandbox.members.done_invited',
  role: 'sandbox.members.done_role',
  removed: 'sandbox.members.done_removed',
} as const
const done = doneText(DONE)

interface OneMember {
  Params: { member_id: string }
}

interface Shown {
  readonly alert?: string
  /** What was given in the form. */
  readonly mail?: string
  readonly role?: string
}

/** Owners manage members here. Refusals are shown on the page. */
export const memberRoutes: FastifyPluginAsync<{ deps: Deps }> = async (app, { deps }) => {
  const show = async (request: FastifyRequest, reply: FastifyReply, shown: Shown = {}) => {
    const partner = partnerOf(request)
    const locale = localeOfRequest(request)
    const page = membersShown(await listMembers(deps, partner.partnerId), partner, deps.clock.now(), locale)
    const data = {
      page,
      mailFolder: folderOfUnsent(deps.config),
      alert: '',
      mail: '',
      role: '',
      done: done(request),
      ...shown,
    }
    return sendSandboxPage(request, reply, 'sandbox/members', data, { section: 'members', query: '' })
  }

  /** Makes the change and redirects to the list, which says so; a refusal is shown at once. */
  const change = async (
    request: FastifyRequest,
    reply: FastifyReply,
    what: keyof typeof DONE,
    work: (deps: Deps, partnerId: bigint) => Promise<unknown>,
    given: Pick<Shown, 'mail' | 'role'> = {},
  ) => {
    try {
      await work(onBehalfOf(deps, request), partnerOf(request).partnerId)
      return seeOther(reply, `${MEMBERS}?done=${what}`)
    } catch (error) {
      const t = textsFor(request)
      if (error instanceof MemberRefusal) {
        reply.code(409)
        return show(request, reply, { alert: memberRefusalText(error.reason, t), ...given })
      }
      const isGone = error instanceof RescodeError && error.failure.status === 404
      if (isGone) return show(request, reply.code(404), { alert: t('sandbox.members.gone') })
      throw error
    }
  }

  app.get('/members', (request, reply) => show(request, reply))

  app.post('/members/invite', (request, reply) => {
    const form = inviteForm.safeParse(request.body)
    if (!form.success) {
      const { mail = '', role = '' } = asTyped.parse(request.body)
      return show(request, reply.code(400), { alert: textsFor(request)('invitation.bad_mail'), mail, role })
    }
    return change(request, reply, 'invited', (acting, id) => inviteMember(acting, id, form.data), form.data)
  })

  app.post<OneMember>('/members/:member_id/invite', (request, reply) =>
    change(request, reply, 'invited', (acting, id) => inviteAgain(acting, id, request.params.member_id)),
  )

  app.post<OneMember>('/members/:member_id/role', (request, reply) => {
    const { role } = parseInput(roleForm, request.body)
    return change(request, reply, 'role', (acting, id) => setMemberRole(acting, id, request.params.member_id, role))
  })

  app.post<OneMember>('/members/:member_id/remove', (request, reply) =>
    change(request, reply, 'removed', (acting, id) => removeMember(acting, id, request.params.member_id)),
  )
}
