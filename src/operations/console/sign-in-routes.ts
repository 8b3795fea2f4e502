import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import type { Deps } from '../../platform/deps.ts'
import { seeOther } from '../../platform/lib/web/envelope.ts'
import { typedText } from '../../platform/lib/web/forms.ts'
import { actorOf, noteForLog } from '../../platform/lib/web/observe.ts'
import { cookieCheck, ownCookie } from '../../platform/lib/web/own-cookie.ts'
import { textsFor } from '../../platform/lib/web/page.ts'
import { qrPicture } from '../../platform/lib/web/qr.ts'
import { noSuchPath } from '../../platform/lib/web/rescode.ts'
import { pathBelow } from '../../platform/lib/web/return-to.ts'
import { DEVICE_LIFETIME_S, rememberDevice, SignInRefused, signInAlert } from '../../platform/throttle/index.ts'
import {
  ADMIN_TOKEN_NAME,
  confirmTotp,
  endConsoleSession,
  enrolTotp,
  renewRecoveryCodes,
  showOperator,
  signInOperator,
  signInWithAdminToken,
} from '../operators/index.ts'
import { AUTHENTICATOR, consoleCookie, HOME, onBehalfOf, SIGN_IN, sendConsolePage, whoIs } from './guard.ts'
import { codeForm, signInForm, signInQuery } from './wire.ts'

interface SignInPage {
  readonly returnTo: string
  readonly name?: string
  readonly alert?: string
  readonly ended?: boolean
  /** Show the form for ADMIN_TOKEN instead. */
  readonly first?: boolean
}

export const signInRoutes: FastifyPluginAsync<{ deps: Deps }> = async (app, { deps }) => {
  const { config } = deps
  const cookie = consoleCookie(config)
  const deviceCookie = ownCookie(config.PUBLIC_URL, {
    name: 'gatehouse_operator_device',
    path: SIGN_IN,
    maxAgeS: DEVICE_LIFETIME_S,
  })

  const cookies = cookieCheck(config.PUBLIC_URL)
  function sendSignIn(request: FastifyRequest, reply: FastifyReply, page: SignInPage): Promise<FastifyReply> {
    const { returnTo, name = '', alert = '', ended = false, first = false } = page
    const queryOf = (isFirst: boolean) =>
      String(new URLSearchParams({ return_to: returnTo, ...(isFirst ? { first: '1' } : {}) }))
    const cookieSet = cookies.offer(request, reply)
    const shown = { returnTo, name, alert, ended, first, other: queryOf(!first), cookieSet }
    return sendConsolePage(request, reply, 'console/sign-in', shown, { query: queryOf(first) })
  }

  app.get('/sign-in', (request, reply) => {
    const { return_to, ended, first } = signInQuery.parse(request.query)
    const returnTo = pathBelow(HOME, return_to, config.PUBLIC_URL)
    return sendSignIn(request, reply, { returnTo, ended: ended === '1', first: first === '1' })
  })

  app.post('/sign-in', async (request, reply) => {
    const returnTo = pathBelow(HOME, signInQuery.parse(request.body).return_to, config.PUBLIC_URL)
    const first = 'token' in Object(request.body)
    const form = signInForm.safeParse(request.body)
    if (!form.success) {
      const alert = textsFor(request)(first ? 'console.sign_in.no_token' : 'console.sign_in.incomplete')
      return sendSignIn(request, reply.code(400), { returnTo, name: typedText(request.body, 'name'), alert, first })
    }
    const { name } = form.data
    if (cookies.isRefused(request)) {
      noteForLog(request, { detail: 'cookies refused' })
      const alert = textsFor(request)('sign_in.cookies')
      return sendSignIn(request, reply.code(400), { returnTo, name, alert, first })
    }
    const [device, formerSession] = [deviceCookie.read(request), cookie.read(request)]
    const attempt = { address: request.ip, device }
    const acting = { ...deps, actor: actorOf(request, 'operator') }
    try {
      const { session, pending } =
        'token' in form.data
          ? await signInWithAdminToken(acting, { ...attempt, token: form.data.token })
          : await signInOperator(acting, { ...attempt, ...form.data })
      await endConsoleSession(acting, formerSession) // of either kind: a planted session must not outlive this
      cookie.set(reply, session)
      const account = { kind: 'operator', name: first ? ADMIN_TOKEN_NAME : name.toLowerCase() } as const
      if (!pending) deviceCookie.set(reply, rememberDevice(deps, account, device))
      return seeOther(reply, pending ? AUTHENTICATOR : returnTo)
    } catch (error) {
      const alert = signInAlert(deps, request, reply, error, REFUSED)
      return sendSignIn(request, reply, { returnTo, name: first ? '' : name, alert, first })
    }
  })

  app.get('/sign-out', (_request, reply) => seeOther(reply, HOME)) // which has the form

  app.post('/sign-out', async (request, reply) => {
    await endConsoleSession({ ...deps, actor: actorOf(request, 'operator') }, cookie.read(request))
    cookie.clear(reply)
    return seeOther(reply, SIGN_IN)
  })
}

/** It does not say which of name, password and code was wrong. */
const REFUSED = { wrong: 'console.sign_in.wrong' } as const

const sendRecoveryCodes = (request: FastifyRequest, reply: FastifyReply, codes: readonly string[]) =>
  sendConsolePage(request, reply, 'console/recovery-codes', { codes }, { scripts: true })

/** Adds an authenticator for an operator without one; it is in force once one of its codes was entered. */
export const authenticatorRoutes: FastifyPluginAsync<{ deps: Deps }> = async (app, { deps }) => {
  const cookie = consoleCookie(deps.config)
  const send = (request: FastifyRequest, reply: FastifyReply, page: object) => {
    const shown = { made: null, picture: null, begun: false, alert: '', ...page }
    return sendConsolePage(request, reply, 'console/authenticator', shown)
  }

  app.get('/authenticator', (request, reply) => send(request, reply, {}))

  app.post('/authenticator', async (request, reply) => {
    try {
      const made = await enrolTotp(deps, whoIs(request))
      return await send(request, reply, { begun: true, made, picture: qrPicture(made.url) })
    } catch (error) {
      if (!(error instanceof SignInRefused)) throw error
      return seeOther(reply, AUTHENTICATOR) // there is one meanwhile, which ended the session: leads to the sign-in
    }
  })

  app.post('/authenticator/confirm', async (request, reply) => {
    const code = codeForm.parse(request.body).code
    try {
      const acting = onBehalfOf(deps, request)
      const made = await confirmTotp(acting, whoIs(request), { code, address: request.ip })
      cookie.set(reply, made.session)
      return await sendRecoveryCodes(request, reply, made.codes)
    } catch (error) {
      const alert = signInAlert(deps, request, reply, error, REFUSED)
      return send(request, reply, { begun: true, alert })
    }
  })
}

/** Shows a signed-in operator how many recovery codes are left, and replaces them. */
export const ownSignInRoutes: FastifyPluginAsync<{ deps: Deps }> = async (app, { deps }) => {
  const withAuthenticator = (request: FastifyRequest) => {
    const operator = whoIs(request)
    if (operator.name === ADMIN_TOKEN_NAME) throw noSuchPath()
    return operator
  }
  async function send(request: FastifyRequest, reply: FastifyReply, alert = '') {
    const operator = withAuthenticator(request)
    const { recovery_codes } = await showOperator(deps, { name: operator.name })
    const shown = { left: String(recovery_codes), alert }
    return sendConsolePage(request, reply, 'console/own-sign-in', shown, { query: '' })
  }

  app.get('/own-sign-in', (request, reply) => send(request, reply))

  app.post('/own-sign-in', async (request, reply) => {
    const operator = withAuthenticator(request)
    const { code } = codeForm.parse(request.body)
    try {
      const codes = await renewRecoveryCodes(onBehalfOf(deps, request), operator, { code, address: request.ip })
      return await sendRecoveryCodes(request, reply, codes)
    } catch (error) {
      return send(request, reply, signInAlert(deps, request, reply, error, REFUSED))
    }
  })
}
