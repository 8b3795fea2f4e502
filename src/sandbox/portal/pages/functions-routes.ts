import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { seeOther } from '../../../platform/lib/web/envelope.ts'
import { localeOfRequest, textsFor } from '../../../platform/lib/web/page.ts'
import { RescodeError } from '../../../platform/lib/web/rescode.ts'
import { MemberRefusal } from '../../../ticketing/members/index.ts'
import {
  changeConditions,
  currentRun,
  progressOfRun,
  type Run,
  type RunDeps,
  RunRefusal,
  showRun,
} from '../../certification/index.ts'
import { giveContacts, ownContacts } from '../contacts.ts'
import { onBehalfOf, partnerOf, sendSandboxPage } from '../guard.ts'
import { startRunFromForm } from '../start-run.ts'
import { refusalText } from '../texts.ts'
import {
  freshForm,
  type Problems,
  parseConditions,
  parseContacts,
  parseRunRequest,
  readForm,
  settledForm,
  type TypedForm,
} from './functions-form.ts'
import { functionsPage, preflightOf, type Shown } from './functions-page.ts'
import { functionsForm } from './wire.ts'

/** The page on which functions are chosen, URLs checked and runs started. */
export const functionsRoutes: FastifyPluginAsync<{ deps: RunDeps }> = async (app, { deps }) => {
  const show = async (request: FastifyRequest, reply: FastifyReply, shown: Shown, alert = '') => {
    const t = textsFor(request)
    const page = await functionsPage(deps, partnerOf(request).partnerId, shown, t)
    return sendSandboxPage(request, reply, 'sandbox/functions', { page, alert }, { section: 'functions', query: '' })
  }

  app.get('/functions', async (request, reply) =>
    show(request, reply, { form: await freshForm(deps, partnerOf(request).partnerId) }),
  )

  app.post('/functions', async (request, reply) => {
    const { partnerId } = partnerOf(request)
    const acting = onBehalfOf(deps, request)
    const form = await settledForm(deps, partnerId, readForm(request.body))
    const { action, replaces } = functionsForm.parse(request.body)
    const read = parseRunRequest(form, deps.clock.now())
    const problems = 'problems' in read ? read.problems : {}
    const again = (shown: Omit<Shown, 'form'>) => show(request, reply, { form, ...shown })
    const invalid = (wrong: Problems) => show(request, reply.code(400), { form, problems: wrong })
    try {
      if (action === 'back') return await again({})
      if (action === 'check') {
        return await again({ problems, preflight: await preflightOf(deps, partnerId, form, localeOfRequest(request)) })
      }
      // Saves only the conditions or contacts; everything else stays in the form.
      if (action === 'conditions') {
        const conditions = parseConditions(form)
        if ('wrong' in conditions) return await invalid({ [conditions.wrong]: `sandbox.problem.${conditions.wrong}` })
        await changeConditions(deps, partnerId, (await currentRun(deps, partnerId)).run_id, conditions)
        return await again({ saved: 'conditions' })
      }
      const { contacts } = await ownContacts(deps, partnerId)
      const named = parseContacts(form, contacts, action === 'contacts')
      if (action === 'contacts') {
        if (Object.keys(named.problems).length > 0) return await invalid(named.problems)
        if (named.given) await giveContacts(acting, partnerId, named.given)
        return await again({ saved: 'contacts' })
      }
      const wrong = { ...problems, ...named.problems }
      if ('problems' in read || Object.keys(wrong).length > 0) return await invalid(wrong)
      const start = { partnerId, requested: read.requested, contacts: named.given, replaces }
      const result = await startRunFromForm(acting, start)
      if ('unconfirmed' in result) return await confirm(request, reply, form, result.unconfirmed)
      return seeOther(reply, `/sandbox/run/${result.started.run_id}`)
    } catch (error) {
      return refused(request, reply, action === 'check' ? { form, problems } : { form }, error)
    }
  })

  /** Shows the form again with the reason of a refusal; rethrows other errors. */
  function refused(request: FastifyRequest, reply: FastifyReply, shown: Shown, error: unknown) {
    const t = textsFor(request)
    if (error instanceof RescodeError && error.failure.status === 429) {
      reply.code(429).headers(error.failure.headers ?? {})
      return show(request, reply, shown, t('sandbox.functions.too_often'))
    }
    if (error instanceof MemberRefusal) return show(request, reply.code(403), shown, t('sandbox.owners_only.help'))
    if (!(error instanceof RunRefusal)) throw error
    return show(request, reply.code(409), shown, refusalText(error.reason, t))
  }

  /** Asks whether a run may be overwritten; includes the form, to be sent again. */
  async function confirm(request: FastifyRequest, reply: FastifyReply, { functions, fields }: TypedForm, run: Run) {
    const { passed, steps } = progressOfRun(await showRun(deps, run.partner_id, run.run_id))
    const page = {
      ...{ runId: run.run_id, number: run.number, passed, steps, isPassed: run.passed_at !== null },
      fields: [...functions.map((id) => ['functions', id]), ...Object.entries(fields)],
    }
    return sendSandboxPage(request, reply, 'sandbox/overwrite', { page }, { section: 'functions' })
  }
}
