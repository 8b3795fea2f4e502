import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { hasPasskeys } from '../../platform/config/people.ts'
import type { Deps } from '../../platform/deps.ts'
import { cookieCheck } from '../../platform/lib/web/cookie-check.ts'
import { seeOther } from '../../platform/lib/web/envelope.ts'
import { actorOf, noteForLog } from '../../platform/lib/web/observe.ts'
import { retryAfter, sendPage, textsFor } from '../../platform/lib/web/page.ts'
import { localPath } from '../../platform/lib/web/return-to.ts'
import { rememberDevice } from '../../platform/throttle/index.ts'
import type { UpstreamDeps } from '../upstream/index.ts'
import { SecondStepNeeded, SignInRefused } from './errors.ts'
import { preparePages } from './forms-guard.ts'
import { signInOptions, signInWithPasskey } from './passkeys.ts'
import { ownPassport, PASSWORD_PATH } from './password.ts'
import { beginSecondStep } from './second-step.ts'
import { findSession, sessionCookie } from './session.ts'
import { accountOf, signIn } from './sign-in.ts'
import { readAsker } from './sign-in-asker.ts'
import { deviceCookieOf, SECOND_STEP, secondStepCookie } from './sign-in-cookies.ts'
import { originOf } from './step-up-guard.ts'
import { signOut } from './upstream-guard.ts'
import { passkeyAnswer, signInForm, signInQuery } from './wire.ts'

/** A page of the room people. */
const ACCOUNT_PATH = '/account'

interface SignInPage {
  readonly returnTo: string
  /** Which app has asked, as it came; empty where none has. */
  readonly app: string
  readonly passport?: string | undefined
  readonly alert?: string
  /** Somebody who is signed in is asked again. */
  readonly confirm?: boolean
  /** Whoever comes was signed in, perhaps in the middle of a form. */
  readonly ended?: boolean
}

/** The pages of this room: home, sign-in, sign-out. Their failures are pages too, with their native status. */
export const accountPages: FastifyPluginAsync<{ deps: UpstreamDeps }> = async (app, { deps }) => {
  const { config, clock } = deps
  const demoUrl = homeOfDemo(deps)
  const acting = (request: FastifyRequest): Deps => ({ ...deps, actor: actorOf(request, 'user') })
  const cookie = sessionCookie(config)
  const deviceCookie = deviceCookieOf(config)
  const cookies = cookieCheck(config.PUBLIC_URL)

  await preparePages(app, config)

  const withPasskeys = hasPasskeys(config)
  async function sendSignIn(request: FastifyRequest, reply: FastifyReply, page: SignInPage): Promise<FastifyReply> {
    const appName = readAsker(deps.keys, page.app, page.returnTo)
    const query = new URLSearchParams({
      return_to: page.returnTo,
      ...(appName === undefined ? {} : { app: page.app }),
      ...(page.confirm ? { confirm: '1' } : {}),
      ...(page.ended ? { ended: '1' } : {}),
    })
    const forgotten = config.PASSWORD_RESET !== 'off'
    const passkey = withPasskeys ? await signInOptions(deps) : ''
    const cookieSet = cookies.offer(request, reply)
    const data = {
      passport: '',
      alert: '',
      confirm: false,
      ended: false,
      ...page,
      appName,
      passkey,
      forgotten,
      cookieSet,
    }
    const options = { query: String(query), formsEndOutside: true, scripts: withPasskeys }
    return sendPage(request, reply, 'account/sign-in', data, options)
  }

  // Somebody who is signed in gets their account.
  app.get('/', async (request, reply) => {
    if (await findSession(deps, cookie.read(request))) return seeOther(reply, ACCOUNT_PATH)
    return sendPage(request, reply, 'index', { demoUrl })
  })

  // Where password managers send people (W3C, "A Well-Known URL for Changing Passwords").
  app.get('/.well-known/change-password', (_request, reply) => seeOther(reply, PASSWORD_PATH))

  // Opened directly, where nobody is signed out without a form of ours: the page that has one.
  app.get('/sign-out', (_request, reply) => seeOther(reply, '/'))

  app.post('/sign-out', async (request, reply) => {
    const returnTo = localPath(signInQuery.parse(request.body).return_to, config.PUBLIC_URL)
    return seeOther(reply, await signOut(deps, request, reply, returnTo))
  })

  if (deps.upstream) return

  app.get('/sign-in', async (request, reply) => {
    const { return_to, login_hint = '', app: asker = '', confirm, ended } = signInQuery.parse(request.query)
    const shown = { returnTo: localPath(return_to, config.PUBLIC_URL), app: asker, ended: ended === '1' }
    const session = confirm ? await findSession(deps, cookie.read(request)) : null
    if (!session) return sendSignIn(request, reply, { ...shown, passport: login_hint })
    return sendSignIn(request, reply, { ...shown, passport: await ownPassport(deps, session), confirm: true })
  })

  app.post('/sign-in', async (request, reply) => {
    const { return_to, app: asker = '', confirm } = signInQuery.parse(request.body)
    const returnTo = localPath(return_to, config.PUBLIC_URL)
    const again = { returnTo, app: asker, confirm: confirm === '1' }
    const t = textsFor(request)
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
      return seeOther(reply, returnTo)
    } catch (error) {
      if (error instanceof SecondStepNeeded) {
        secondStepCookie(config).set(reply, beginSecondStep(deps, passport, error.credential))
        const query = new URLSearchParams({ return_to: returnTo })
        return seeOther(reply, `${SECOND_STEP}?${query}`)
      }
      if (!(error instanceof SignInRefused)) throw error
      noteForLog(request, { detail: error.message })
      if (!error.retryAt) return sendSignIn(request, reply.code(403), { ...again, passport, alert: t('sign_in.wrong') })
      const alert = t('sign_in.limited', { when: retryAfter(request, reply, error.retryAt, clock.now()) })
      return sendSignIn(request, reply, { ...again, passport, alert })
    }
  })

  if (withPasskeys) {
    app.post('/sign-in/passkey', async (request, reply) => {
      const asked = signInQuery.parse(request.body)
      const returnTo = localPath(asked.return_to, config.PUBLIC_URL)
      const form = passkeyAnswer.safeParse(request.body)
      try {
        if (!form.success) throw new SignInRefused()
        const device = deviceCookie.read(request)
        const rest = { formerSession: cookie.read(request), from: originOf(request), device }
        const opened = await signInWithPasskey(acting(request), { response: form.data.credential, ...rest })
        cookie.set(reply, opened.session)
        deviceCookie.set(reply, rememberDevice(deps, accountOf(opened.passport), device))
        return seeOther(reply, returnTo)
      } catch (error) {
        if (!(error instanceof SignInRefused)) throw error
        noteForLog(request, { detail: 'passkey refused' })
        const alert = textsFor(request)('passkey.refused')
        return sendSignIn(request, reply.code(403), {
          returnTo,
          app: asked.app ?? '',
          confirm: asked.confirm === '1',
          alert,
        })
      }
    })
    app.get('/sign-in/passkey', (_request, reply) => seeOther(reply, '/sign-in'))
  }
}

/** Where the demo micro-app listens, on the host that browsers know us by; null without one or on a port not known yet. */
function homeOfDemo({ config }: Deps): string | null {
  if (!config.DEMO || config.DEMO_PORT === 0) return null
  return `http://${new URL(config.PUBLIC_URL).hostname}:${config.DEMO_PORT}/`
}
