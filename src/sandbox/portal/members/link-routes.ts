import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import type { z } from 'zod'
import type { Deps } from '../../../platform/deps.ts'
import { WeakPassword } from '../../../platform/lib/crypto/weak-password.ts'
import { hasWrongCharacters } from '../../../platform/lib/json/input.ts'
import { seeOther } from '../../../platform/lib/web/envelope.ts'
import type { Translate } from '../../../platform/lib/web/locale.ts'
import { actorOf, noteForLog } from '../../../platform/lib/web/observe.ts'
import { retryAfter, textsFor } from '../../../platform/lib/web/page.ts'
import {
  askForPassword,
  MemberRefusal,
  openMemberLink,
  SHORTEST_PASSWORD,
  useLink,
} from '../../../ticketing/members/index.ts'
import { showPartner } from '../../../ticketing/partners/index.ts'
import { HOME, sendSandboxPage } from '../guard.ts'
import { sessionCookie, signInJoined } from '../session.ts'
import { memberRefusalText, roleName } from '../texts.ts'
import { asTyped, forgottenForm, linkQuery, passwordForm, signInQuery } from '../wire.ts'

/** Keeps the token out of the Referer header, even to our own pages: proxies may log it. */
const REFERRER = 'strict-origin'

const STATUS = { link_expired: 410, link_used: 410, no_owner: 409 } as const
const statusOf = ({ reason }: MemberRefusal): number => STATUS[reason as keyof typeof STATUS] ?? 404

/** The pages behind links in mails, and the page that requests such a mail. No sign-in. */
export const linkRoutes: FastifyPluginAsync<{ deps: Deps }> = async (app, { deps }) => {
  const cookie = sessionCookie(deps.config)
  const show = async (request: FastifyRequest, reply: FastifyReply, token: string, alert = '') => {
    const { partnerId, purpose, mail, role } = await openMemberLink(deps, token)
    const { name, client_id: clientId } = await showPartner(deps, partnerId)
    const t = textsFor(request)
    const link = { token, mail, role: roleName(role, t), partner: name, clientId, joins: purpose === 'invitation' }
    const shown = { link, alert, shortest: SHORTEST_PASSWORD, referrer: REFERRER }
    return sendSandboxPage(request, reply, 'sandbox/join', shown, { query: `token=${token}` })
  }

  const refusing = async (request: FastifyRequest, reply: FastifyReply, work: () => Promise<FastifyReply>) => {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof MemberRefusal)) throw error
      noteForLog(request, { detail: error.reason })
      const alert = memberRefusalText(error.reason, textsFor(request))
      return sendSandboxPage(request, reply.code(statusOf(error)), 'sandbox/join-refused', {
        alert,
        referrer: REFERRER,
      })
    }
  }

  // GET has no effect: mail scanners open every link.
  app.get('/join', (request, reply) =>
    refusing(request, reply, () => show(request, reply, linkQuery.parse(request.query).token)),
  )

  app.post('/join', (request, reply) =>
    refusing(request, reply, async () => {
      const { token } = linkQuery.parse(request.body)
      const t = textsFor(request)
      const form = passwordForm.safeParse(request.body)
      const problem = form.success ? mismatchText(form.data, t) : invalidText(form.error, t)
      if (!form.success || problem) return show(request, reply.code(400), token, problem)
      const acting = { ...deps, actor: actorOf(request, 'partner') }
      const used = await useLink(acting, token, form.data.password).catch((error: unknown) => {
        if (error instanceof WeakPassword) return error
        throw error
      })
      if (used instanceof WeakPassword) return show(request, reply.code(400), token, t(used.text))
      // A new member is signed in at once. After a password reset people sign in themselves, so they know that it
      // works.
      if (used.purpose === 'invitation') {
        const session = await signInJoined(acting, used.partnerId, used, cookie.read(request))
        if (session !== undefined) {
          cookie.set(reply, session)
          return seeOther(reply, HOME)
        }
      }
      const { client_id } = await showPartner(deps, used.partnerId)
      const query = new URLSearchParams({ client_id, ready: '1' })
      return seeOther(reply, `${HOME}/sign-in?${query}`)
    }),
  )

  const showForgotten = (request: FastifyRequest, reply: FastifyReply, shown: object = {}) => {
    const data = { clientId: '', mail: '', alert: '', sent: false, ...shown }
    return sendSandboxPage(request, reply, 'sandbox/forgotten', data, request.method === 'POST' ? { query: '' } : {})
  }

  app.get('/forgotten', (request, reply) =>
    showForgotten(request, reply, { clientId: signInQuery.parse(request.query).client_id ?? '' }),
  )

  app.post('/forgotten', async (request, reply) => {
    const t = textsFor(request)
    const form = forgottenForm.safeParse(request.body)
    if (!form.success) {
      const { client_id: clientId = '', mail = '' } = asTyped.parse(request.body)
      return showForgotten(request, reply.code(400), { clientId, mail, alert: t('sandbox.forgotten.incomplete') })
    }
    const { client_id: clientId, mail } = form.data
    const until = await askForPassword(deps, { clientId, mail }, request.ip)
    if (!until) return showForgotten(request, reply, { clientId, mail, sent: true })
    const alert = t('sandbox.forgotten.limited', { when: retryAfter(request, reply, until, deps.clock.now()) })
    return showForgotten(request, reply, { clientId, mail, alert })
  })
}

const lengths = { shortest: String(SHORTEST_PASSWORD) }

const invalidText = (error: z.ZodError, t: Translate): string =>
  hasWrongCharacters(error) ? t('sandbox.join.password_characters') : t('sandbox.join.password_length', lengths)

const mismatchText = (form: z.output<typeof passwordForm>, t: Translate): string =>
  form.password === form.password_again ? '' : t('sandbox.join.password_differs')
