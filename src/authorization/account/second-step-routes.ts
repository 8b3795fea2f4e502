import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import type { Deps } from '../../platform/deps.ts'
import { seeOther } from '../../platform/lib/web/envelope.ts'
import { actorOf } from '../../platform/lib/web/observe.ts'
import { sendPage, textsFor } from '../../platform/lib/web/page.ts'
import { qrPicture } from '../../platform/lib/web/qr.ts'
import { queryOf } from '../../platform/lib/web/request-target.ts'
import { preparePages } from '../../platform/throttle/index.ts'
import { SecondStepVoid } from './errors.ts'
import {
  addsTotp,
  confirmInSignIn,
  enrolInSignIn,
  finishSignIn,
  openSecondStep,
  type SecondStep,
} from './second-step.ts'
import { carriedOf } from './sign-in-app.ts'
import { alertOf, SECOND_STEP, secondStepCookie, signInBrowser } from './sign-in-guard.ts'
import { codeForm } from './wire.ts'

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
