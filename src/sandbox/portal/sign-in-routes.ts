import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import type { Deps } from '../../platform/deps.ts'
import { seeOther } from '../../platform/lib/web/envelope.ts'
import { actorOf, noteForLog } from '../../platform/lib/web/observe.ts'
import { cookieCheck, ownCookie } from '../../platform/lib/web/own-cookie.ts'
import { textsFor } from '../../platform/lib/web/page.ts'
import { pathBelow } from '../../platform/lib/web/return-to.ts'
import { DEVICE_LIFETIME_S, rememberDevice, signInAlert } from '../../platform/throttle/index.ts'
import { PartnerNotAdmitted } from './errors.ts'
import { HOME, sendSandboxPage } from './guard.ts'
import { accountOf, findPartnerSession, sessionCookie, signInPartner, signOutPartner } from './session.ts'
import { asTyped, signInForm, signInQuery } from './wire.ts'

interface SignInPage {
  readonly returnTo: string
  readonly clientId?: string | undefined
  readonly mail?: string | undefined
  readonly alert?: string
  /** A session has just ended. */
  readonly ended?: boolean
  /** A password has just been set. */
  readonly ready?: boolean
}

export const signInRoutes: FastifyPluginAsync<{ deps: Deps }> = async (app, { deps }) => {
  const { config } = deps
  const cookie = sessionCookie(config)
  const deviceCookie = ownCookie(config.PUBLIC_URL, {
    name: 'gatehouse_sandbox_device',
    path: '/sandbox/sign-in',
    maxAgeS: DEVICE_LIFETIME_S,
  })

  const cookies = cookieCheck(config.PUBLIC_URL)
  function sendSignIn(request: FastifyRequest, reply: FastifyReply, page: SignInPage): Promise<FastifyReply> {
    const { returnTo, clientId = '', mail = '', alert = '', ended = false, ready = false } = page
    const query = new URLSearchParams({ return_to: returnTo, ...(clientId ? { client_id: clientId } : {}) })
    if (ended) query.set('ended', '1')
    const shown = { returnTo, clientId, mail, alert, ended, ready, cookieSet: cookies.offer(request, reply) }
    return sendSandboxPage(request, reply, 'sandbox/sign-in', shown, { query: String(query) })
  }

  app.get('/sign-in', (request, reply) => {
    const { return_to, client_id: clientId, ended, ready } = signInQuery.parse(request.query)
    const returnTo = pathBelow(HOME, return_to, config.PUBLIC_URL)
    return sendSignIn(request, reply, { returnTo, clientId, ended: ended === '1', ready: ready === '1' })
  })

  app.post('/sign-in', async (request, reply) => {
    const returnTo = pathBelow(HOME, signInQuery.parse(request.body).return_to, config.PUBLIC_URL)
    const form = signInForm.safeParse(request.body)
    if (!form.success) {
      const alert = textsFor(request)('sandbox.sign_in.incomplete')
      const { client_id: clientId, mail } = asTyped.parse(request.body)
      return sendSignIn(request, reply.code(400), { returnTo, clientId, mail, alert })
    }
    const { client_id: clientId, mail, password } = form.data
    if (cookies.isRefused(request)) {
      noteForLog(request, { detail: 'cookies refused' })
      const alert = textsFor(request)('sign_in.cookies')
      return sendSignIn(request, reply.code(400), { returnTo, clientId, mail, alert })
    }
    try {
      const [device, formerSession] = [deviceCookie.read(request), cookie.read(request)]
      const acting = { ...deps, actor: actorOf(request, 'partner') }
      const browser = { address: request.ip, device, formerSession }
      cookie.set(reply, await signInPartner(acting, { ...browser, clientId, mail, password }))
      deviceCookie.set(reply, rememberDevice(deps, accountOf({ clientId, mail }), device))
      return seeOther(reply, returnTo)
    } catch (error) {
      const mistaken = mail === undefined ? 'sandbox.sign_in.wrong' : 'sandbox.sign_in.wrong_member'
      const wrong = error instanceof PartnerNotAdmitted ? NOT_ADMITTED[error.problem] : mistaken
      const alert = signInAlert(deps, request, reply, error, { wrong })
      return sendSignIn(request, reply, { returnTo, clientId, mail, alert })
    }
  })

  app.get('/sign-out', (_request, reply) => seeOther(reply, HOME)) // has the form

  app.post('/sign-out', async (request, reply) => {
    const session = cookie.read(request)
    const partner = await findPartnerSession(deps, session)
    if (partner) await signOutPartner({ ...deps, actor: actorOf(request, 'partner') }, partner)
    cookie.clear(reply)
    // Members need the clientId again, and few know it by heart.
    const query = partner?.memberId ? `?${new URLSearchParams({ client_id: partner.clientId })}` : ''
    return seeOther(reply, `${HOME}/sign-in${query}`)
  })
}

const NOT_ADMITTED = { suspended: 'sandbox.sign_in.suspended', members: 'sandbox.sign_in.members' } as const
