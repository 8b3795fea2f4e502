import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import type { Deps } from '../deps.ts'
import { secondsUntil } from '../lib/clock.ts'
import { AREA_A_HEADERS } from '../lib/web/envelope.ts'
import { inMinutes, translator } from '../lib/web/locale.ts'
import { noteForLog } from '../lib/web/observe.ts'
import { ownCookie } from '../lib/web/own-cookie.ts'
import { localeOfRequest } from '../lib/web/page.ts'
import { DEVICE_LIFETIME_S, rememberDevice } from '../throttle/index.ts'
import { PartnerSignInRefused } from './errors.ts'
import { HOME, sandboxPath, sendSandboxPage } from './guard.ts'
import { endPartnerSession, sessionCookie } from './session.ts'
import { signInPartner } from './sign-in.ts'
import { signInForm, signInQuery } from './wire.ts'

interface SignInPage {
  readonly returnTo: string
  readonly clientId?: string
  readonly alert?: string
  /** A session has just ended: the page says so. */
  readonly ended?: boolean
}

function sendSignIn(request: FastifyRequest, reply: FastifyReply, page: SignInPage): Promise<FastifyReply> {
  const query = `return_to=${encodeURIComponent(page.returnTo)}${page.ended ? '&ended=1' : ''}`
  const shown = { clientId: '', alert: '', ended: false, ...page }
  return sendSandboxPage(request, reply, 'sandbox/sign-in', shown, { query })
}

/** Sign-in and sign-out. */
export const signInRoutes: FastifyPluginAsync<{ deps: Deps }> = async (app, { deps }) => {
  const { config } = deps
  const cookie = sessionCookie(config)
  const deviceCookie = ownCookie(config.PUBLIC_URL, {
    name: 'gatehouse_sandbox_device',
    path: '/sandbox/sign-in',
    maxAgeS: DEVICE_LIFETIME_S,
  })

  app.get('/sign-in', (request, reply) => {
    const { return_to, ended } = signInQuery.parse(request.query)
    return sendSignIn(request, reply, { returnTo: sandboxPath(return_to, config.PUBLIC_URL), ended: ended === '1' })
  })

  app.post('/sign-in', async (request, reply) => {
    const returnTo = sandboxPath(signInQuery.parse(request.body).return_to, config.PUBLIC_URL)
    const form = signInForm.safeParse(request.body)
    if (!form.success) {
      const alert = translator(localeOfRequest(request))('sandbox.sign_in.incomplete')
      return sendSignIn(request, reply.code(400), { returnTo, alert })
    }
    const { client_id: clientId, client_secret: clientSecret } = form.data
    try {
      const [device, formerSession] = [deviceCookie.read(request), cookie.read(request)]
      const sessionId = await signInPartner(deps, {
        clientId,
        clientSecret,
        address: request.ip,
        device,
        formerSession,
      })
      cookie.set(reply, sessionId)
      deviceCookie.set(reply, rememberDevice(deps, { kind: 'partner', name: clientId }, device))
      return reply.headers(AREA_A_HEADERS).redirect(returnTo, 303)
    } catch (error) {
      if (!(error instanceof PartnerSignInRefused)) throw error
      noteForLog(request, { detail: error.message })
      return sendSignIn(request, reply, { returnTo, clientId, alert: refuse(deps, error, request, reply) })
    }
  })

  app.post('/sign-out', async (request, reply) => {
    await endPartnerSession(deps, cookie.read(request))
    cookie.clear(reply)
    return reply.headers(AREA_A_HEADERS).redirect(`${HOME}/sign-in`, 303)
  })
}

/** Sets the status and returns what to tell the person. */
function refuse({ clock }: Deps, refusal: PartnerSignInRefused, request: FastifyRequest, reply: FastifyReply): string {
  const locale = localeOfRequest(request)
  const t = translator(locale)
  if (!refusal.retryAt) {
    reply.code(403)
    return refusal.problem === 'suspended' ? t('sandbox.sign_in.suspended') : t('sandbox.sign_in.wrong')
  }
  const seconds = Math.max(1, secondsUntil(refusal.retryAt, clock.now()))
  reply.code(429).header('Retry-After', String(seconds))
  return t('sandbox.sign_in.limited', { when: inMinutes(locale, seconds) })
}
