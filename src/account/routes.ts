import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import type { Deps } from '../deps.ts'
import { secondsUntil } from '../lib/clock.ts'
import { cookieCheck } from '../lib/web/cookie-check.ts'
import { AREA_A_HEADERS, failureAnswerOf } from '../lib/web/envelope.ts'
import { acceptForms, refuseForeignForms } from '../lib/web/forms.ts'
import { inMinutes, translator } from '../lib/web/locale.ts'
import { actorOf, noteForLog } from '../lib/web/observe.ts'
import { ownCookie } from '../lib/web/own-cookie.ts'
import { localeOfRequest, sendErrorPage, sendPage } from '../lib/web/page.ts'
import { localPath } from '../lib/web/return-to.ts'
import { DEVICE_LIFETIME_S, limitPages, rememberDevice } from '../throttle/index.ts'
import { SignInRefused } from './errors.ts'
import { PASSWORD_PATH } from './password.ts'
import { findSession, sessionCookie, signOut } from './session.ts'
import { accountOf, signIn } from './sign-in.ts'
import { readAsker } from './sign-in-asker.ts'
import { signInForm, signInQuery } from './wire.ts'

const FORM_LIMIT = 16 * 1024
/** Of the room people. */
const ACCOUNT_PATH = '/account'

interface SignInPage {
  readonly returnTo: string
  /** Which app has asked, as it came; empty where none has. */
  readonly app: string
  readonly passport?: string
  readonly alert?: string
}

/** The pages of this room: home, sign-in, sign-out. Their failures are pages too, with their native status. */
export const accountPages: FastifyPluginAsync<{ deps: Deps }> = async (app, { deps }) => {
  const { config, clock } = deps
  const demoUrl = homeOfDemo(deps)
  const acting = (request: FastifyRequest): Deps => ({ ...deps, actor: actorOf(request, 'user') })
  const cookie = sessionCookie(config)
  const deviceCookie = ownCookie(config.PUBLIC_URL, {
    name: 'gatehouse_device',
    path: '/sign-in',
    maxAgeS: DEVICE_LIFETIME_S,
  })

  const cookies = cookieCheck(config.PUBLIC_URL)

  await acceptForms(app, FORM_LIMIT)
  app.addHook('onRequest', limitPages(app, config))
  app.addHook('onRequest', refuseForeignForms(config.PUBLIC_URL))
  app.setErrorHandler((error, request, reply) => sendErrorPage(request, reply, failureAnswerOf(error, request), true))

  function sendSignIn(request: FastifyRequest, reply: FastifyReply, page: SignInPage): Promise<FastifyReply> {
    const appName = readAsker(deps.keys, page.app, page.returnTo)
    const query = `return_to=${encodeURIComponent(page.returnTo)}${appName === undefined ? '' : `&app=${page.app}`}`
    const data = { passport: '', alert: '', ...page, appName, cookieSet: cookies.offer(request, reply) }
    return sendPage(request, reply, 'account/sign-in', data, { query, formsEndOutside: true })
  }

  // Of somebody who is signed in: their account.
  app.get('/', async (request, reply) => {
    if (await findSession(deps, cookie.read(request))) return reply.headers(AREA_A_HEADERS).redirect(ACCOUNT_PATH, 303)
    return sendPage(request, reply, 'index', { demoUrl })
  })

  // Where password managers send people (W3C, "A Well-Known URL for Changing Passwords").
  app.get('/.well-known/change-password', (_request, reply) =>
    reply.headers(AREA_A_HEADERS).redirect(PASSWORD_PATH, 303),
  )

  app.get('/sign-in', (request, reply) => {
    const { return_to, login_hint = '', app: asker = '' } = signInQuery.parse(request.query)
    const returnTo = localPath(return_to, config.PUBLIC_URL)
    return sendSignIn(request, reply, { returnTo, app: asker, passport: login_hint })
  })

  app.post('/sign-in', async (request, reply) => {
    const { return_to, app: asker = '' } = signInQuery.parse(request.body)
    const returnTo = localPath(return_to, config.PUBLIC_URL)
    const again = { returnTo, app: asker }
    const t = translator(localeOfRequest(request))
    const form = signInForm.safeParse(request.body)
    if (!form.success) return sendSignIn(request, reply.code(400), { ...again, alert: t('sign_in.incomplete') })
    const { passport, password } = form.data
    if (cookies.isRefused(request)) {
      noteForLog(request, { detail: 'cookies refused' })
      return sendSignIn(request, reply.code(400), { ...again, passport, alert: t('sign_in.cookies') })
    }
    try {
      const device = deviceCookie.read(request)
      const formerSession = cookie.read(request)
      cookie.set(
        reply,
        await signIn(acting(request), {
          passport,
          password,
          address: request.ip,
          userAgent: request.headers['user-agent'],
          device,
          formerSession,
        }),
      )
      deviceCookie.set(reply, rememberDevice(deps, accountOf(passport), device))
      return reply.headers(AREA_A_HEADERS).redirect(returnTo, 303)
    } catch (error) {
      if (!(error instanceof SignInRefused)) throw error
      noteForLog(request, { detail: error.message })
      if (!error.retryAt) return sendSignIn(request, reply.code(403), { ...again, passport, alert: t('sign_in.wrong') })
      const seconds = secondsUntil(error.retryAt, clock.now())
      const alert = t('sign_in.limited', { when: inMinutes(localeOfRequest(request), seconds) })
      reply.code(429).header('Retry-After', String(Math.max(1, seconds)))
      return sendSignIn(request, reply, { ...again, passport, alert })
    }
  })

  // Opened directly, where nobody is signed out without a form of ours: the page that has one.
  app.get('/sign-out', (_request, reply) => reply.headers(AREA_A_HEADERS).redirect('/', 303))

  app.post('/sign-out', async (request, reply) => {
    await signOut(acting(request), cookie.read(request))
    cookie.clear(reply)
    const returnTo = localPath(signInQuery.parse(request.body).return_to, config.PUBLIC_URL)
    return reply.headers(AREA_A_HEADERS).redirect(returnTo, 303)
  })
}

/** Where the demo micro-app listens, on the host that browsers know us by; null without one or on a port not known yet. */
function homeOfDemo({ config }: Deps): string | null {
  if (!config.DEMO || config.DEMO_PORT === 0) return null
  return `http://${new URL(config.PUBLIC_URL).hostname}:${config.DEMO_PORT}/`
}
