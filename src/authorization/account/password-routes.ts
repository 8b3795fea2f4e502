import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import type { z } from 'zod'
import { hasPasskeys } from '../../platform/config/people.ts'
import type { Deps } from '../../platform/deps.ts'
import { WeakPassword } from '../../platform/lib/crypto/weak-password.ts'
import { hasWrongCharacters } from '../../platform/lib/json/input.ts'
import { subjectOf } from '../../platform/lib/subject.ts'
import { FORM_OWNER } from '../../platform/lib/web/form-owner.ts'
import { typedText } from '../../platform/lib/web/forms.ts'
import type { Translate } from '../../platform/lib/web/locale.ts'
import { actorOf, noteForLog } from '../../platform/lib/web/observe.ts'
import { retryAfter, sendPage, textsFor } from '../../platform/lib/web/page.ts'
import { countOwnChange, preparePages } from '../../platform/throttle/index.ts'
import { PasswordRefused } from './errors.ts'
import {
  askForPassword,
  changePassword,
  openPasswordLink,
  ownPassport,
  PASSWORD_PATH,
  setPasswordByLink,
} from './password.ts'
import { findSession, type SignedIn, sessionCookie } from './session.ts'
import { alertOf, askToSignIn, carriedOf, deviceCookieOf, FORGOTTEN, freshSession, isFresh } from './sign-in-guard.ts'
import { forgottenForm, newPasswordForm, ownPasswordForm, passwordQuery, signInQuery } from './wire.ts'

/** Keeps the token out of every Referer, even to our own pages: a proxy may log it. */
const REFERRER = 'strict-origin'
const REFUSALS = {
  link_invalid: ['password.link_invalid', 404],
  link_expired: ['password.link_expired', 410],
  link_used: ['password.link_used', 410],
  signed_out: ['password.signed_out', 403],
} as const

/** The page that sets a password: with a link, or for a signed-in person who knows the current one. */
export const passwordPages: FastifyPluginAsync<{ deps: Deps }> = async (app, { deps }) => {
  const { config } = deps
  const cookie = sessionCookie(config)
  await preparePages(app, config)

  const send = (request: FastifyRequest, reply: FastifyReply, shown: object, token = '') => {
    const forgotten = config.PASSWORD_RESET !== 'off'
    const data = { token, passport: '', passkeys: [], referrer: REFERRER, forgotten, ...shown }
    return sendPage(request, reply, 'account/password', data, { query: token && `token=${token}` })
  }

  /** Of a link's token or a session. Includes the passport, under which password managers save the new password. */
  async function sendForm(request: FastifyRequest, reply: FastifyReply, whose: string | SignedIn, alert = '') {
    if (typeof whose !== 'string') return send(request, reply, { passport: await ownPassport(deps, whose), alert })
    const { passport } = await openPasswordLink(deps, whose)
    return send(request, reply, { passport, alert }, whose)
  }

  const refusing =
    (work: (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>) =>
    (request: FastifyRequest, reply: FastifyReply) =>
      work(request, reply).catch((error: unknown) => {
        if (!(error instanceof PasswordRefused)) throw error
        noteForLog(request, { detail: error.reason })
        const [key, status] = REFUSALS[error.reason]
        return send(request, reply.code(status), { refused: true, alert: textsFor(request)(key) })
      })

  // GET changes nothing: mail scanners open every link.
  app.get(
    PASSWORD_PATH,
    refusing(async (request, reply) => {
      const { token } = passwordQuery.parse(request.query)
      if (token !== undefined) return sendForm(request, reply, token)
      const session = await freshSession(deps, request, reply, PASSWORD_PATH)
      if (!session) return reply
      FORM_OWNER.bindFormsTo(deps.keys, request, subjectOf(session))
      return sendForm(request, reply, session)
    }),
  )

  app.post(
    PASSWORD_PATH,
    refusing(async (request, reply) => {
      const { token } = passwordQuery.parse(request.body)
      return token === undefined ? changeOwn(request, reply) : setByLink(request, reply, token)
    }),
  )

  async function setByLink(request: FastifyRequest, reply: FastifyReply, token: string): Promise<FastifyReply> {
    const t = textsFor(request)
    const form = newPasswordForm.safeParse(request.body)
    const problem = problemOf(form, t)
    if (!form.success || problem) return sendForm(request, reply.code(400), token, problem)
    const acting = { ...deps, actor: actorOf(request, 'user') }
    const session = await findSession(deps, cookie.read(request))
    try {
      const change = { token, password: form.data.password, address: request.ip }
      const { owner, passkeys } = await setPasswordByLink(acting, change)
      // Somebody else may be signed in here.
      if (session && subjectOf(session) === subjectOf(owner)) cookie.clear(reply)
      return await send(request, reply, { done: true, passkeys: hasPasskeys(config) ? passkeys : [] })
    } catch (error) {
      if (!(error instanceof WeakPassword)) throw error
      return sendForm(request, reply.code(400), token, t(error.text))
    }
  }

  async function changeOwn(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const t = textsFor(request)
    const session = await findSession(deps, cookie.read(request))
    if (!session) throw new PasswordRefused('signed_out')
    FORM_OWNER.bindFormsTo(deps.keys, request, subjectOf(session))
    if (!(await isFresh(deps, session))) return askToSignIn(reply, PASSWORD_PATH, true)
    await countOwnChange(deps, session)
    const form = ownPasswordForm.safeParse(request.body)
    const problem = problemOf(form, t)
    if (!form.success || problem) return sendForm(request, reply.code(400), session, problem)
    const { current_password: current, password } = form.data
    const acting = { ...deps, actor: actorOf(request, 'user') }
    try {
      await changePassword(acting, session, { current, password, address: request.ip })
      return await send(request, reply, { done: true })
    } catch (error) {
      if (error instanceof PasswordRefused) throw error
      if (error instanceof WeakPassword) return sendForm(request, reply.code(400), session, t(error.text))
      return sendForm(request, reply, session, alertOf(deps, request, reply, error, 'password.wrong'))
    }
  }
}

function problemOf({ data, error }: z.ZodSafeParseResult<z.output<typeof newPasswordForm>>, t: Translate): string {
  if (!data) return t(hasWrongCharacters(error) ? 'password.characters' : 'password.length')
  return data.password === data.password_again ? '' : t('password.differs')
}

/** The forgotten-password page. It reads the same whether or not the person exists. */
export const forgottenPages: FastifyPluginAsync<{ deps: Deps }> = async (app, { deps }) => {
  const { config, clock } = deps
  if (config.PASSWORD_RESET === 'off') return
  const deviceCookie = deviceCookieOf(config)
  await preparePages(app, config)

  const show = (request: FastifyRequest, reply: FastifyReply, shown: object) => {
    const flow = carriedOf(deps, request.body ?? request.query)
    const data = { ...flow, passport: '', alert: '', asked: false, ...shown }
    return sendPage(request, reply, 'account/forgotten', data, { query: flow.carried, leadsOutside: true })
  }

  app.get(FORGOTTEN, (request, reply) =>
    show(request, reply, { passport: signInQuery.parse(request.query).login_hint ?? '' }),
  )

  app.post(FORGOTTEN, async (request, reply) => {
    const t = textsFor(request)
    const form = forgottenForm.safeParse(request.body)
    const passport = typedText(request.body, 'passport')
    if (!form.success) return show(request, reply.code(400), { passport, alert: t('forgotten.incomplete') })
    const until = await askForPassword(deps, { passport, address: request.ip, device: deviceCookie.read(request) })
    if (!until) return show(request, reply, { passport, asked: true })
    const when = retryAfter(request, reply, until, clock.now())
    return show(request, reply, { passport, alert: t('forgotten.limited', { when }) })
  })
}
