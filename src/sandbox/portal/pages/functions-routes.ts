import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import type { Deps } from '../../../platform/deps.ts'
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
import { type RunStart, startRunFromForm } from '../start-run.ts'
import { refusalText } from '../texts.ts'
import { parseConditions, parseContacts } from './form-parts.ts'
import { type FormTexts, formFields, freshForm, parseRunRequest, readForm, settledForm } from './functions-form.ts'
import { functionsPage, preflightOf, type Shown } from './functions-page.ts'
import { functionsForm } from './wire.ts'

/** Asks whether a run may be overwritten; includes the form, to be sent again. */
async function overwritePage(deps: Deps, run: Run, form: FormTexts) {
  const { passed, steps } = progressOfRun(await showRun(deps, run.partner_id, run.run_id))
  return {
    runId: run.run_id,
    number: run.number,
    passed,
    steps,
    isPassed: run.passed_at !== null,
    fields: formFields(form),
  }
}

type Wanted = Pick<RunStart, 'requested' | 'contacts'>

const isTooMany = (error: unknown): error is RescodeError =>
  error instanceof RescodeError && error.failure.status === 429

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
    const form = await settledForm(deps, partnerId, readForm(request.body))
    const { action } = functionsForm.parse(request.body)
    if (action === 'check') return check(request, reply, form)
    if (action === 'back') return show(request, reply, { form })
    if (action === 'contacts') return saveContacts(request, reply, form)
    if (action === 'conditions') return saveConditions(request, reply, form)
    const read = parseRunRequest(form, deps.clock.now())
    const { contacts } = await ownContacts(deps, partnerId)
    const named = parseContacts(form.contacts, contacts)
    const problems = { ...('problems' in read ? read.problems : {}), ...named.problems }
    if ('problems' in read || Object.keys(problems).length > 0) {
      return show(request, reply.code(400), { form, problems })
    }
    return begin(request, reply, form, { requested: read.requested, contacts: named.given })
  })

  /** Saves only the contacts; everything else stays in the form. */
  async function saveContacts(request: FastifyRequest, reply: FastifyReply, form: FormTexts): Promise<FastifyReply> {
    const { partnerId } = partnerOf(request)
    const { contacts } = await ownContacts(deps, partnerId)
    const { given, problems } = parseContacts(form.contacts, contacts, true)
    if (Object.keys(problems).length > 0) return show(request, reply.code(400), { form, problems })
    try {
      if (given) await giveContacts(onBehalfOf(deps, request), partnerId, given)
    } catch (error) {
      return refused(request, reply, { form }, error)
    }
    return show(request, reply, { form, saved: 'contacts' })
  }

  /** Changes the current run's conditions; everything else stays in the form. */
  async function saveConditions(request: FastifyRequest, reply: FastifyReply, form: FormTexts): Promise<FastifyReply> {
    const { partnerId } = partnerOf(request)
    const conditions = parseConditions(form)
    if ('wrong' in conditions) {
      const { wrong } = conditions
      return show(request, reply.code(400), { form, problems: { [wrong]: `sandbox.problem.${wrong}` } })
    }
    try {
      await changeConditions(deps, partnerId, (await currentRun(deps, partnerId)).run_id, conditions)
    } catch (error) {
      return refused(request, reply, { form }, error)
    }
    return show(request, reply, { form, saved: 'conditions' })
  }

  /** Shows the form again with the reason of a refusal; rethrows other errors. */
  function refused(request: FastifyRequest, reply: FastifyReply, shown: Shown, error: unknown) {
    const t = textsFor(request)
    if (isTooMany(error)) {
      reply.code(429).headers(error.failure.headers ?? {})
      return show(request, reply, shown, t('sandbox.functions.too_often'))
    }
    if (error instanceof MemberRefusal) return show(request, reply.code(403), shown, t('sandbox.owners_only.help'))
    if (!(error instanceof RunRefusal)) throw error
    return show(request, reply.code(409), shown, refusalText(error.reason, t))
  }

  async function check(request: FastifyRequest, reply: FastifyReply, form: FormTexts): Promise<FastifyReply> {
    const locale = localeOfRequest(request)
    const read = parseRunRequest(form, deps.clock.now())
    const problems = 'problems' in read ? read.problems : {}
    try {
      const tried = await preflightOf(deps, partnerOf(request).partnerId, form, locale)
      return await show(request, reply, { form, problems, preflight: tried })
    } catch (error) {
      return refused(request, reply, { form, problems }, error)
    }
  }

  async function begin(request: FastifyRequest, reply: FastifyReply, form: FormTexts, wanted: Wanted) {
    const { replaces } = functionsForm.parse(request.body)
    try {
      const { partnerId } = partnerOf(request)
      const result = await startRunFromForm(onBehalfOf(deps, request), { partnerId, ...wanted, replaces })
      if ('unconfirmed' in result) return confirm(request, reply, form, result.unconfirmed)
      return seeOther(reply, `/sandbox/run/${result.started.run_id}`)
    } catch (error) {
      return refused(request, reply, { form }, error)
    }
  }

  async function confirm(request: FastifyRequest, reply: FastifyReply, form: FormTexts, run: Run) {
    const page = await overwritePage(deps, run, form)
    return sendSandboxPage(request, reply, 'sandbox/overwrite', { page }, { section: 'functions' })
  }
}
