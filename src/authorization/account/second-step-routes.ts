import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import type { Deps } from '../../platform/deps.ts'
import { seeOther } from '../../platform/lib/web/envelope.ts'
import { actorOf, noteForLog } from '../../platform/lib/web/observe.ts'
import { retryAfter, sendPage, textsFor } from '../../platform/lib/web/page.ts'
import { qrPicture } from '../../platform/lib/web/qr.ts'
import { localPath } from '../../platform/lib/web/return-to.ts'
import { rememberDevice } from '../../platform/throttle/index.ts'
import { CodesUsedUp, SignInRefused } from './errors.ts'
import { preparePages } from './forms-guard.ts'
import {
  confirmInSignIn,
  enrolInSignIn,
  finishSignIn,
  hasTotp,
  openSecondStep,
  type SecondStep,
  type SecondStepInput,
} from './second-step.ts'
import { sessionCookie } from './session.ts'
import { accountOf } from './sign-in.ts'
import { deviceCookieOf, SECOND_STEP, secondStepCookie } from './sign-in-cookies.ts'
import { originOf } from './step-up-guard.ts'
import { codeForm, signInQuery } from './wire.ts'

const ADD = `${SECOND_STEP}/authenticator`

/** The page after the password: asks for a code, or has the person add an authenticator where everybody needs one. */
export const secondStepPages: FastifyPluginAsync<{ deps: Deps }> = async (app, { deps }) => {
  const { config, clock } = deps
  const cookie = sessionCookie(config)
  const stepCookie = secondStepCookie(config)
  const deviceCookie = deviceCookieOf(config)
  const acting = (request: FastifyRequest): Deps => ({ ...deps, actor: actorOf(request, 'user') })

  await preparePages(app, config)

  const returnToOf = (given: unknown) => localPath(signInQuery.parse(given).return_to, config.PUBLIC_URL)
  const queryOf = (returnTo: string) => String(new URLSearchParams({ return_to: returnTo }))

  const send = (request: FastifyRequest, reply: FastifyReply, returnTo: string, page: object) => {
    const shown = { returnTo, alert: '', adds: false, made: null, picture: null, ...page }
    // A link to the other language would lose the secret that is shown, or was and is being typed.
    const query = shown.adds && (shown.made || shown.alert) ? {} : { query: queryOf(returnTo) }
    return sendPage(request, reply, 'account/second-step', shown, { ...query, formsEndOutside: true })
  }

  /** The password was typed too long ago, or not in this browser: from the beginning. */
  const startAgain = (reply: FastifyReply, returnTo: string) => seeOther(reply, `/sign-in?${queryOf(returnTo)}`)

  app.get(SECOND_STEP, async (request, reply) => {
    const returnTo = returnToOf(request.query)
    const step = openSecondStep(deps, stepCookie.read(request))
    if (!step) return startAgain(reply, returnTo)
    return send(request, reply, returnTo, { adds: !(await hasTotp(deps, step)) })
  })

  // The address of the answer, opened again: the page that has the form.
  app.get(ADD, (request, reply) => seeOther(reply, `${SECOND_STEP}?${queryOf(returnToOf(request.query))}`))

  app.post(ADD, async (request, reply) => {
    const returnTo = returnToOf(request.body)
    const step = openSecondStep(deps, stepCookie.read(request))
    if (!step) return startAgain(reply, returnTo)
    const made = await enrolInSignIn(deps, step).catch((error) => {
      if (error instanceof SignInRefused) return 'ended' as const
      throw error
    })
    if (made === 'ended') return startAgain(reply, returnTo)
    if (!made) return send(request, reply, returnTo, {})
    return send(request, reply, returnTo, { adds: true, made, picture: qrPicture(made.url) })
  })

  app.post(SECOND_STEP, async (request, reply) => {
    const returnTo = returnToOf(request.body)
    const step = openSecondStep(deps, stepCookie.read(request))
    if (!step) return startAgain(reply, returnTo)
    const t = textsFor(request)
    const adds = !(await hasTotp(deps, step))
    const form = codeForm.safeParse(request.body)
    if (!form.success) return send(request, reply.code(400), returnTo, { adds, alert: t('second_step.incomplete') })
    const device = deviceCookie.read(request)
    const rest = { from: originOf(request), device, formerSession: cookie.read(request) }
    const input = { step, code: form.data.code, ...rest }
    try {
      return adds ? await confirm(request, reply, returnTo, input) : await finish(request, reply, returnTo, input)
    } catch (error) {
      if (!(error instanceof SignInRefused)) throw error
      noteForLog(request, { detail: error.message })
      if (!error.retryAt) return send(request, reply.code(403), returnTo, { adds, alert: t('second_step.wrong') })
      const when = retryAfter(request, reply, error.retryAt, clock.now())
      const alert = t(error instanceof CodesUsedUp ? 'second_step.used_up' : 'sign_in.limited', { when })
      return send(request, reply, returnTo, { adds, alert })
    }
  })

  function signedIn(reply: FastifyReply, session: string, { passport }: SecondStep, device: string | undefined) {
    cookie.set(reply, session)
    stepCookie.clear(reply)
    deviceCookie.set(reply, rememberDevice(deps, accountOf(passport), device))
  }

  async function finish(request: FastifyRequest, reply: FastifyReply, returnTo: string, input: SecondStepInput) {
    signedIn(reply, await finishSignIn(acting(request), input), input.step, input.device)
    return seeOther(reply, returnTo)
  }

  /** The recovery codes are shown once, with the way on. */
  async function confirm(request: FastifyRequest, reply: FastifyReply, returnTo: string, input: SecondStepInput) {
    const confirmed = await confirmInSignIn(acting(request), input)
    if (!confirmed) throw new SignInRefused()
    signedIn(reply, confirmed.session, input.step, input.device)
    const shown = { codes: confirmed.codes, goOn: returnTo }
    return sendPage(request, reply, 'account/recovery-codes', shown, { scripts: true })
  }
}
