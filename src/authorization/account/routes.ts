import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { hasPasskeys } from '../../platform/config/people.ts'
import type { Deps } from '../../platform/deps.ts'
import { seeOther } from '../../platform/lib/web/envelope.ts'
import { typedText } from '../../platform/lib/web/forms.ts'
import { actorOf, noteForLog } from '../../platform/lib/web/observe.ts'
import { cookieCheck } from '../../platform/lib/web/own-cookie.ts'
import { sendPage, textsFor } from '../../platform/lib/web/page.ts'
import { qrPicture } from '../../platform/lib/web/qr.ts'
import { queryOf } from '../../platform/lib/web/request-target.ts'
import { localPath } from '../../platform/lib/web/return-to.ts'
import { preparePages, SignInRefused } from '../../platform/throttle/index.ts'
import type { UpstreamDeps } from '../upstream/index.ts'
import { SecondStepNeeded, SecondStepVoid } from './errors.ts'
import { signInOptions, signInWithPasskey } from './passkeys.ts'
import { ownPassport, PASSWORD_PATH } from './password.ts'
import {
  addsTotp,
  beginSecondStep,
  confirmInSignIn,
  enrolInSignIn,
  finishSignIn,
  openSecondStep,
  type SecondStep,
} from './second-step.ts'
import { findSession, sessionCookie } from './session.ts'
import { signIn } from './sign-in.ts'
import { alertOf, carriedOf, SECOND_STEP, secondStepCookie, signInBrowser, signOut } from './sign-in-guard.ts'
import { codeForm, passkeyAnswer, signInForm, signInQuery } from './wire.ts'

/** Served by the room people. */
const ACCOUNT_PATH = '/account'

export const signInPages: FastifyPluginAsync<{ deps: UpstreamDeps }> = async (app, { deps }) => {
  const { config } = deps
  const demoUrl = homeOfDemo(deps)
  const acting = (request: FastifyRequest): Deps => ({ ...deps, actor: actorOf(request, 'user') })
  const cookie = sessionCookie(config)
  const browser = signInBrowser(deps)
  const cookies = cookieCheck(config.PUBLIC_URL)
  const withPasskeys = hasPasskeys(config)

  await preparePages(app, config)

  function paramsOf(given: unknown) {
    const { login_hint = '', confirm, ended } = signInQuery.parse(given)
    return { ...carriedOf(deps, given), passport: login_hint, confirm: confirm === '1', ended: ended === '1' }
  }

  type Params = ReturnType<typeof paramsOf>
  async function sendSignIn(request: FastifyRequest, reply: FastifyReply, params: Params, alert = '') {
    const query = new URLSearchParams(params.carried)
    if (params.confirm) query.set('confirm', '1')
    if (params.ended) query.set('ended', '1')
    const passkey = withPasskeys ? await signInOptions(deps) : ''
    const cookieSet = cookies.offer(request, reply)
    const data = { ...params, alert, passkey, forgotten: config.PASSWORD_RESET !== 'off', cookieSet }
    const options = { query: String(query), leadsOutside: true, scripts: withPasskeys }
    return sendPage(request, reply, 'account/sign-in', data, options)
  }

  app.get('/', async (request, reply) => {
    if (await findSession(deps, cookie.read(request))) return seeOther(reply, ACCOUNT_PATH)
    return sendPage(request, reply, 'index', { demoUrl })
  })

  // Where password managers send people (W3C, "A Well-Known URL for Changing Passwords").
  app.get('/.well-known/change-password', (_request, reply) => seeOther(reply, PASSWORD_PATH))

  // Opened directly. Signing out takes a form of ours, so lead to a page that has one.
  app.get('/sign-out', (_request, reply) => seeOther(reply, '/'))

  app.post('/sign-out', async (request, reply) => {
    const returnTo = localPath(signInQuery.parse(request.body).return_to, config.PUBLIC_URL)
    return seeOther(reply, await signOut(deps, request, reply, returnTo))
  })

  if (deps.upstream) return

  app.get('/sign-in', async (request, reply) => {
    const params = paramsOf(request.query)
    const session = params.confirm ? await findSession(deps, cookie.read(request)) : null
    const passport = session ? await ownPassport(deps, session) : params.passport
    return sendSignIn(request, reply, { ...params, passport, confirm: session !== null })
  })

  app.post('/sign-in', async (request, reply) => {
    const params = paramsOf(request.body)
    const t = textsFor(request)
    const form = signInForm.safeParse(request.body)
    const again = { ...params, passport: typedText(request.body, 'passport') }
    if (!form.success) return sendSignIn(request, reply.code(400), again, t('sign_in.incomplete'))
    const { passport, password } = form.data
    if (cookies.isRefused(request)) {
      noteForLog(request, { detail: 'cookies refused' })
      return sendSignIn(request, reply.code(400), again, t('sign_in.cookies'))
    }
    try {
      const session = await signIn(acting(request), { passport, password, ...browser.read(request) })
      browser.keep(request, reply, { session, passport })
      return seeOther(reply, params.returnTo)
    } catch (error) {
      if (error instanceof SecondStepNeeded) {
        secondStepCookie(config).set(reply, beginSecondStep(deps, passport, error.credential))
        return seeOther(reply, `${SECOND_STEP}?${params.carried}`)
      }
      return sendSignIn(request, reply, again, alertOf(deps, request, reply, error, 'sign_in.wrong'))
    }
  })

  if (withPasskeys) {
    app.post('/sign-in/passkey', async (request, reply) => {
      const params = paramsOf(request.body)
      const form = passkeyAnswer.safeParse(request.body)
      try {
        if (!form.success) throw new SignInRefused()
        const given = { response: form.data.credential, ...browser.read(request) }
        browser.keep(request, reply, await signInWithPasskey(acting(request), given))
        return seeOther(reply, params.returnTo)
      } catch (error) {
        return sendSignIn(request, reply, params, alertOf(deps, request, reply, error, 'passkey.refused'))
      }
    })
    // Language links on the page that answers the form.
    app.get('/sign-in/passkey', (request, reply) => seeOther(reply, `/sign-in?${queryOf(request.url)}`))
  }
}

/** Address of the demo micro-app, on our public host; null without one, or if its port is not known yet. */
function homeOfDemo({ config }: Deps): string | null {
  if (!config.DEMO || config.DEMO_PORT === 0) return null
  return `http://${new URL(config.PUBLIC_URL).hostname}:${config.DEMO_PORT}/`
}

type Flow = ReturnType<typeof carriedOf>

const ADD = `${SECOND_STEP}/authenticator`

/** The page after the password: asks for a code, or enrols an authenticator if one is required. */
export const secondStepPages: FastifyPluginAsync<{ deps: Deps }> = async (app, { deps }) => {
  const { config } = deps
  const stepCookie = secondStepCookie(config)
  const browser = signInBrowser(deps)

  await preparePages(app, config)

  const send = (request: FastifyRequest, reply: FastifyReply, flow: Flow, page: object) => {
    const shown = { ...flow, alert: '', adds: false, made: null, picture: null, ...page }
    // No language link while a secret is shown or being typed: it would be lost.
    const query = shown.adds && (shown.made || shown.alert) ? {} : { query: flow.carried }
    return sendPage(request, reply, 'account/second-step', shown, { ...query, leadsOutside: true })
  }

  type Handler = (request: FastifyRequest, reply: FastifyReply, step: SecondStep, flow: Flow) => Promise<unknown>
  /** Starts again if the first step was too long ago, in another browser, or no longer counts. */
  const forStep = (handler: Handler) => async (request: FastifyRequest, reply: FastifyReply) => {
    const flow = carriedOf(deps, request.body ?? request.query)
    const step = openSecondStep(deps, stepCookie.read(request))
    if (!step) return startAgain(request, reply, flow)
    try {
      return await handler(request, reply, step, flow)
    } catch (error) {
      if (error instanceof SecondStepVoid) return startAgain(request, reply, flow)
      throw error
    }
  }
  const startAgain = (request: FastifyRequest, reply: FastifyReply, { carried }: Flow) =>
    seeOther(reply, `/sign-in?${carried}${request.method === 'POST' ? '&ended=1' : ''}`)

  app.get(
    SECOND_STEP,
    forStep(async (request, reply, step, flow) => send(request, reply, flow, { adds: await addsTotp(deps, step) })),
  )

  // The address of the POST, reloaded or opened by a language link: lead to the form.
  app.get(ADD, (request, reply) => seeOther(reply, `${SECOND_STEP}?${queryOf(request.url)}`))

  app.post(
    ADD,
    forStep(async (request, reply, step, flow) => {
      const made = await enrolInSignIn(deps, step)
      if (!made) return send(request, reply, flow, {})
      return send(request, reply, flow, { adds: true, made, picture: qrPicture(made.url) })
    }),
  )

  app.post(
    SECOND_STEP,
    forStep(async (request, reply, step, flow) => {
      const adds = await addsTotp(deps, step)
      const form = codeForm.safeParse(request.body)
      if (!form.success) {
        const alert = textsFor(request)('second_step.incomplete')
        return send(request, reply.code(400), flow, { adds, alert })
      }
      const input = { step, code: form.data.code, ...browser.read(request) }
      const acting = { ...deps, actor: actorOf(request, 'user') }
      try {
        const { session, codes } = adds
          ? await confirmInSignIn(acting, input)
          : { session: await finishSignIn(acting, input), codes: undefined }
        browser.keep(request, reply, { session, passport: step.passport })
        stepCookie.clear(reply)
        if (!codes) return seeOther(reply, flow.returnTo)
        const data = { codes, goOn: flow.returnTo }
        return sendPage(request, reply, 'account/recovery-codes', data, { scripts: true, leadsOutside: true })
      } catch (error) {
        const alert = alertOf(deps, request, reply, error, 'second_step.wrong')
        return send(request, reply, flow, { adds, alert })
      }
    }),
  )
}
