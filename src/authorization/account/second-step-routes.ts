import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import type { Deps } from '../../platform/deps.ts'
import { seeOther } from '../../platform/lib/web/envelope.ts'
import { actorOf } from '../../platform/lib/web/observe.ts'
import { sendPage, textsFor } from '../../platform/lib/web/page.ts'
import { qrPicture } from '../../platform/lib/web/qr.ts'
import { queryOf } from '../../platform/lib/web/request-target.ts'
import { preparePages } from '../../platform/throttle/index.ts'
import { SignInRefused } from './errors.ts'
import {
  confirmInSignIn,
  enrolInSignIn,
  finishSignIn,
  hasTotp,
  openSecondStep,
  type SecondStep,
} from './second-step.ts'
import { carriedOf } from './sign-in-asker.ts'
import { alertOf, SECOND_STEP, secondStepCookie, signInBrowser } from './sign-in-guard.ts'
import { codeForm } from './wire.ts'

type Way = ReturnType<typeof carriedOf>

const ADD = `${SECOND_STEP}/authenticator`

/** The page after the password: asks for a code, or has the person add an authenticator where everybody needs one. */
export const secondStepPages: FastifyPluginAsync<{ deps: Deps }> = async (app, { deps }) => {
  const { config } = deps
  const stepCookie = secondStepCookie(config)
  const browser = signInBrowser(deps)

  await preparePages(app, config)

  const send = (request: FastifyRequest, reply: FastifyReply, way: Way, page: object) => {
    const shown = { ...way, alert: '', adds: false, made: null, picture: null, ...page }
    // A link to the other language would lose the secret that is shown, or was and is being typed.
    const query = shown.adds && (shown.made || shown.alert) ? {} : { query: way.carried }
    return sendPage(request, reply, 'account/second-step', shown, { ...query, leadsOutside: true })
  }

  type Handler = (request: FastifyRequest, reply: FastifyReply, step: SecondStep, way: Way) => Promise<unknown>
  /** Where the password was typed too long ago, or not in this browser: from the beginning. */
  const forStep = (handler: Handler) => async (request: FastifyRequest, reply: FastifyReply) => {
    const way = carriedOf(deps, request.body ?? request.query)
    const step = openSecondStep(deps, stepCookie.read(request))
    return step ? handler(request, reply, step, way) : startAgain(request, reply, way)
  }
  const startAgain = (request: FastifyRequest, reply: FastifyReply, { carried }: Way) =>
    seeOther(reply, `/sign-in?${carried}${request.method === 'POST' ? '&ended=1' : ''}`)

  app.get(
    SECOND_STEP,
    forStep(async (request, reply, step, way) => send(request, reply, way, { adds: !(await hasTotp(deps, step)) })),
  )

  // The address of the answer, opened again, as by a language link: the page that has the form.
  app.get(ADD, (request, reply) => seeOther(reply, `${SECOND_STEP}?${queryOf(request.url)}`))

  app.post(
    ADD,
    forStep(async (request, reply, step, way) => {
      try {
        const made = await enrolInSignIn(deps, step)
        if (!made) return send(request, reply, way, {})
        return send(request, reply, way, { adds: true, made, picture: qrPicture(made.url) })
      } catch (error) {
        if (error instanceof SignInRefused) return startAgain(request, reply, way)
        throw error
      }
    }),
  )

  app.post(
    SECOND_STEP,
    forStep(async (request, reply, step, way) => {
      const adds = !(await hasTotp(deps, step))
      const form = codeForm.safeParse(request.body)
      if (!form.success) {
        const alert = textsFor(request)('second_step.incomplete')
        return send(request, reply.code(400), way, { adds, alert })
      }
      const input = { step, code: form.data.code, ...browser.read(request) }
      const acting = { ...deps, actor: actorOf(request, 'user') }
      try {
        const { session, codes } = adds
          ? await confirmInSignIn(acting, input)
          : { session: await finishSignIn(acting, input), codes: undefined }
        browser.keep(request, reply, { session, passport: step.passport })
        stepCookie.clear(reply)
        if (!codes) return seeOther(reply, way.returnTo)
        // The recovery codes are shown once, with the way on.
        return sendPage(
          request,
          reply,
          'account/recovery-codes',
          { codes, goOn: way.returnTo },
          { scripts: true, leadsOutside: true },
        )
      } catch (error) {
        const alert = alertOf(deps, request, reply, error, 'second_step.wrong')
        return send(request, reply, way, { adds, alert })
      }
    }),
  )
}
