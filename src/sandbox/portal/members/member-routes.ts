import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import type { Deps } from '../../../platform/deps.ts'
import { parseInput } from '../../../platform/lib/json/input.ts'
import { NO_STORE_HEADERS } from '../../../platform/lib/web/envelope.ts'
import { translator } from '../../../platform/lib/web/locale.ts'
import { localeOfRequest } from '../../../platform/lib/web/page.ts'
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
import { memberRefusalText } from '../texts.ts'
import { membersShown } from './members-shown.ts'
import { inviteForm, type MEMBER_CHANGES, memberChangeQuery, roleForm } from './wire.ts'

const MEMBERS = `${HOME}/members`

interface OneMember {
  Params: { member_id: string }
}

interface Shown {
  readonly alert?: string
  /** What was typed into the form. */
  readonly mail?: string
  readonly done?: (typeof MEMBER_CHANGES)[number] | undefined
}

/** The page for owners on which they manage members. A refusal is shown on the page. */
export const memberRoutes: FastifyPluginAsync<{ deps: Deps }> = async (app, { deps }) => {
  const show = async (request: FastifyRequest, reply: FastifyReply, shown: Shown = {}) => {
    const partner = partnerOf(request)
    const locale = localeOfRequest(request)
    const page = membersShown(await listMembers(deps, partner.partnerId), partner, deps.clock.now(), locale)
    const data = { page, mailFolder: folderOfUnsent(deps.config), alert: '', mail: '', done: '', ...shown }
    return sendSandboxPage(request, reply, 'sandbox/members', data, { section: 'members', query: '' })
  }

  /** Does it and goes back to the list, or says there why not. */
  const change = async (
    request: FastifyRequest,
    reply: FastifyReply,
    done: (typeof MEMBER_CHANGES)[number],
    work: (deps: Deps, partnerId: bigint) => Promise<unknown>,
    mail?: string,
  ) => {
    try {
      await work(onBehalfOf(deps, request), partnerOf(request).partnerId)
      return reply.headers(NO_STORE_HEADERS).redirect(`${MEMBERS}?done=${done}`, 303)
    } catch (error) {
      const t = translator(localeOfRequest(request))
      if (error instanceof MemberRefusal) {
        reply.code(409)
        return show(request, reply, { alert: memberRefusalText(error.reason, t), ...(mail ? { mail } : {}) })
      }
      const isGone = error instanceof RescodeError && error.failure.status === 404
      if (isGone) return show(request, reply.code(404), { alert: t('sandbox.members.gone') })
      throw error
    }
  }

  app.get('/members', (request, reply) => show(request, reply, memberChangeQuery.parse(request.query)))

  app.post('/members/invite', (request, reply) => {
    const form = inviteForm.safeParse(request.body)
    if (!form.success) {
      const alert = translator(localeOfRequest(request))('sandbox.members.bad_mail')
      return show(request, reply.code(400), { alert })
    }
    return change(request, reply, 'invited', (acting, id) => inviteMember(acting, id, form.data), form.data.mail)
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
