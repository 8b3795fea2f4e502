import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { startStep } from '../../certification/attempt.ts'
import { noSuchRun, SandboxRefusal } from '../../certification/errors.ts'
import { lookNow } from '../../certification/follow.ts'
import { nextStep, presentRun, showRun } from '../../certification/run.ts'
import type { Deps } from '../../deps.ts'
import type { Log } from '../../lib/log.ts'
import { AREA_A_HEADERS } from '../../lib/web/envelope.ts'
import { translator } from '../../lib/web/locale.ts'
import { noteForLog } from '../../lib/web/observe.ts'
import { localeOfRequest } from '../../lib/web/page.ts'
import { checkAcceptance } from '../acceptance.ts'
import { partnerOf, sendSandboxPage } from '../guard.ts'
import { retryNotification } from '../notify/notifications.ts'
import { refusalText, refusedQuery } from './refusals.ts'
import { reportPage } from './report-page.ts'
import { runPage } from './run-page.ts'
import { notificationParams, runParams, runQuery, stepParams } from './wire.ts'

const RUN = '/run/:run_id'

/** Without scripts the page of a running step loads itself again so often. */
const REFRESH_S = 2

/** The pages of a test run and their forms. Each form leads back to the page; what it was refused for stands there. */
export const runRoutes: FastifyPluginAsync<{ deps: Deps }> = async (app, { deps }) => {
  app.get('/run', async (request, reply) => {
    try {
      const { run_id } = await presentRun(deps, partnerOf(request).partnerId)
      return goTo(reply, `/sandbox/run/${run_id}`, 302)
    } catch (error) {
      if (!(error instanceof SandboxRefusal)) throw error
      return goTo(reply, '/sandbox/functions', 302)
    }
  })

  app.get(RUN, (request, reply) => sendRun(deps, request, reply))

  app.get(`${RUN}/report`, async (request, reply) => {
    const t = translator(localeOfRequest(request))
    const page = await reportPage(deps, ownRun(request), t)
    return sendSandboxPage(request, reply, 'sandbox/report', { page }, { section: 'history' })
  })

  forms(app, deps)
}

function forms(app: FastifyInstance, deps: Deps): void {
  app.post(`${RUN}/steps/:step_id/start`, async (request, reply) => {
    const { stepId, ...run } = ownStep(request)
    return backTo(request, reply, run.runId, async () => {
      await knowing(deps, run, stepId, () => startStep(deps, request.log as Log, { ...run, stepId }))
      lookNow(deps)
    })
  })

  app.post(`${RUN}/steps/:step_id/next`, async (request, reply) => {
    const { stepId, ...run } = ownStep(request)
    return backTo(request, reply, run.runId, () =>
      knowing(deps, run, stepId, () => nextStep(deps, run.partnerId, run.runId, stepId)),
    )
  })

  app.post(`${RUN}/accept`, async (request, reply) => {
    const run = ownRun(request)
    await showRun(deps, run.partnerId, run.runId)
    return backTo(request, reply, run.runId, () => checkAcceptance(deps, run.partnerId, run.runId), 'checked=1')
  })

  app.post(`${RUN}/notifications/:notification_id/retry`, async (request, reply) => {
    const params = notificationParams.safeParse(request.params)
    if (!params.success) throw noSuchRun()
    const run = ownRun(request)
    await showRun(deps, run.partnerId, run.runId)
    // One that has arrived meanwhile is shown as sent, which is answer enough.
    const again = () => retryNotification(deps, run.runId, params.data.notification_id)
    return backTo(request, reply, run.runId, again, 'checked=1')
  })
}

const goTo = (reply: FastifyReply, path: string, status: 302 | 303): FastifyReply =>
  reply.headers(AREA_A_HEADERS).redirect(path, status)

interface OwnRun {
  readonly partnerId: bigint
  readonly runId: string
}

function ownRun(request: FastifyRequest): OwnRun {
  const params = runParams.safeParse(request.params)
  if (!params.success) throw noSuchRun()
  return { partnerId: partnerOf(request).partnerId, runId: params.data.run_id }
}

function ownStep(request: FastifyRequest): OwnRun & { stepId: string } {
  const params = stepParams.safeParse(request.params)
  if (!params.success) throw noSuchRun()
  return { ...ownRun(request), stepId: params.data.step_id }
}

/** Does something at a step; one that the run does not have is as unknown as a run that is not there. */
async function knowing<T>(
  deps: Deps,
  { partnerId, runId }: OwnRun,
  stepId: string,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work()
  } catch (error) {
    // Only who is refused is told apart, so that a start waits for nothing.
    const { steps } = await showRun(deps, partnerId, runId)
    throw steps.some(({ step }) => step.id === stepId) ? error : noSuchRun()
  }
}

/** Does what a form asks for and shows the run again; a refusal is said there. */
async function backTo(
  request: FastifyRequest,
  reply: FastifyReply,
  runId: string,
  work: () => Promise<unknown>,
  query = '',
): Promise<FastifyReply> {
  const page = `/sandbox/run/${runId}`
  try {
    await work()
    return goTo(reply, query === '' ? page : `${page}?${query}`, 303)
  } catch (error) {
    if (!(error instanceof SandboxRefusal)) throw error
    noteForLog(request, { code: error.rescode, detail: error.message })
    return goTo(reply, `${page}?${refusedQuery(error)}`, 303)
  }
}

async function sendRun(deps: Deps, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const t = translator(localeOfRequest(request))
  const { step, attempt, refused, checked } = runQuery.parse(request.query)
  const page = await runPage(deps, { ...ownRun(request), step, attempt }, t)
  const refresh = page.run.running ? REFRESH_S : undefined
  const shown = { page, alert: refusalText(refused, t), checked: checked === '1', refresh }
  return sendSandboxPage(request, reply, 'sandbox/run', shown, {
    section: 'run',
    scripts: ['sandbox-run.js', 'sandbox-copy.js'],
  })
}
