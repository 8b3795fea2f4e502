import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import type { Deps } from '../../../platform/deps.ts'
import type { Log } from '../../../platform/lib/log.ts'
import { NO_STORE_HEADERS, seeOther } from '../../../platform/lib/web/envelope.ts'
import { noteForLog } from '../../../platform/lib/web/observe.ts'
import { textsFor } from '../../../platform/lib/web/page.ts'
import { tooManyRequests, unavailable } from '../../../platform/lib/web/rescode.ts'
import { showPartner } from '../../../ticketing/partners/index.ts'
import {
  findCurrentRun,
  nextStep,
  noSuchRun,
  type RunDeps,
  type RunRef,
  RunRefusal,
  requireRun,
  showRun,
  startAll,
  startStep,
  stopStep,
} from '../../certification/index.ts'
import { onDisconnect, paramsOf, partnerOf, sendSandboxPage } from '../guard.ts'
import { acceptRun, retryNotification } from '../notify/notifications.ts'
import { OpenRequests } from '../open-requests.ts'
import { findPartnerSession, sessionCookie } from '../session.ts'
import { openShareKey, sharedPath, shareLink, withdrawLinks } from '../share.ts'
import { refusalText } from '../texts.ts'
import { reportPage, runPage } from './run-page.ts'
import { type FollowedLine, type FollowOptions, followLines } from './streams.ts'
import {
  notificationParams,
  runParams,
  runQuery,
  sharedParams,
  sharedQuery,
  stepParams,
  streamHeaders,
  streamQuery,
} from './wire.ts'

/** Browsers reconnect after this time. */
const RETRY_MS = 1_000

/** Simultaneous streams: in this process, per browser session (one per tab), and per partner. */
const MAX_STREAMS = { process: 1_000, session: 12, partner: 120 }
const BUSY_RETRY_S = 5

/**
 * The log lines of a run as server-sent events: `id` is the number of the line in the run, `data` is JSON with `html`
 * (the line as on the page) and `state`. Browsers that reconnect with Last-Event-ID (or `?after=`) miss none.
 */
export const streamRoutes: FastifyPluginAsync<{ deps: RunDeps }> = async (app, { deps }) => {
  const streams = new OpenRequests()
  const cookie = sessionCookie(deps.config)
  app.addHook('preClose', async () => streams.endAll())

  app.get('/run/:run_id/events', { config: { answersHead: false } }, async (request, reply) => {
    const { run_id } = paramsOf(request, runParams, noSuchRun)
    const { partnerId, sessionHash } = partnerOf(request)
    await requireRun(deps, partnerId, run_id)
    const { process, session, partner } = MAX_STREAMS
    const { signal, close } = streams.open(
      { process, [`session ${sessionHash.toString('base64')}`]: session, [`partner ${partnerId}`]: partner },
      (full) => (full === 'process' ? unavailable() : tooManyRequests(BUSY_RETRY_S)),
    )
    onDisconnect(reply, close)
    app.stopCounting(reply)
    const options: FollowOptions = {
      deps,
      partnerId,
      runId: run_id,
      after: streamHeaders.parse(request.headers)['last-event-id'] ?? streamQuery.parse(request.query).after,
      t: textsFor(request),
      signal,
      allowed: async () => (await findPartnerSession(deps, cookie.read(request))) !== null,
    }
    return reply
      .headers({ ...NO_STORE_HEADERS, 'Content-Type': 'text/event-stream; charset=utf-8', 'X-Accel-Buffering': 'no' })
      .send(Readable.from(frames(request, options)))
  })
}

async function* frames(request: FastifyRequest, options: FollowOptions): AsyncGenerator<string> {
  yield `retry: ${RETRY_MS}\n\n`
  for await (const item of followLines(options)) yield await frame(request, options, item)
}

async function frame({ server }: FastifyRequest, { t }: FollowOptions, item: FollowedLine | null): Promise<string> {
  if (item === null) return ': still here\n\n'
  const { event, line } = item
  const html = await server.view('sandbox/log-line', { line, t })
  const state = { kind: event.kind, step: event.step_id, attempt: event.attempt_id }
  return `id: ${event.seq}\ndata: ${JSON.stringify({ html, state })}\n\n`
}

type StepRef = Parameters<typeof stopStep>[1]

const RUN = '/run/:run_id'

/** Without JavaScript the page of a running step reloads after this many seconds. */
const REFRESH_S = 2

/** The pages of a test run and their forms. Forms redirect to the page, which shows why they were refused. */
export const runRoutes: FastifyPluginAsync<{ deps: RunDeps }> = async (app, { deps }) => {
  app.get('/run', async (request, reply) => {
    const run = await findCurrentRun(deps, partnerOf(request).partnerId)
    return reply.headers(NO_STORE_HEADERS).redirect(run ? `/sandbox/run/${run.run_id}` : '/sandbox/functions', 302)
  })

  app.get(RUN, (request, reply) => sendRun(deps, request, reply))

  app.get(`${RUN}/report`, async (request, reply) => {
    const t = textsFor(request)
    const page = await reportPage(deps, ownRun(request), t)
    return sendSandboxPage(request, reply, 'sandbox/report', { page }, { section: 'history' })
  })

  forms(app, deps)
}

function forms(app: FastifyInstance, deps: RunDeps): void {
  const stepForm = (name: string, work: (step: StepRef, log: Log) => Promise<unknown>) =>
    app.post(`${RUN}/steps/:step_id/${name}`, (request, reply) => {
      const step = ownStep(request)
      return backTo(request, reply, step.runId, async () => {
        await requireKnownStep(deps, step, () => work(step, request.log as Log))
        deps.logFollowers.pollNow()
      })
    })
  stepForm('start', (step, log) => startStep(deps, log, step))
  stepForm('stop', (step) => stopStep(deps, step))
  stepForm('next', ({ partnerId, runId, stepId }) => nextStep(deps, partnerId, runId, stepId))

  const runForm = (name: string, query: string, work: (run: RunRef, request: FastifyRequest) => Promise<unknown>) =>
    app.post(`${RUN}/${name}`, async (request, reply) => {
      const run = ownRun(request)
      await requireRun(deps, run.partnerId, run.runId)
      return backTo(request, reply, run.runId, () => work(run, request), query)
    })
  runForm('start-all', 'all=1', (run, { log }) => startAll(deps, log as Log, run))
  runForm('accept', 'checked=1', ({ partnerId, runId }) => acceptRun(deps, partnerId, runId))
  runForm('share/withdraw', 'withdrawn=1#share', ({ runId }) => withdrawLinks(deps, runId))
  // The result is ignored: if it was delivered meanwhile, the page says so.
  runForm('notifications/:notification_id/retry', 'checked=1', ({ runId }, request) =>
    retryNotification(deps, runId, paramsOf(request, notificationParams, noSuchRun).notification_id),
  )
}

function ownRun(request: FastifyRequest): RunRef {
  const { run_id: runId } = paramsOf(request, runParams, noSuchRun)
  return { partnerId: partnerOf(request).partnerId, runId }
}

const ownStep = (request: FastifyRequest): StepRef => ({
  ...ownRun(request),
  stepId: paramsOf(request, stepParams, noSuchRun).step_id,
})

/** Throws 404 for a step that the run does not have, as for an unknown run. */
async function requireKnownStep<T>(
  deps: Deps,
  { partnerId, runId, stepId }: StepRef,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work()
  } catch (error) {
    // Checked only after a failure, so that successful starts stay fast.
    const { steps } = await showRun(deps, partnerId, runId)
    throw steps.some(({ step }) => step.id === stepId) ? error : noSuchRun()
  }
}

/** Does what a form asks for and redirects to the run's page, with the reason if the run refused. */
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
    return seeOther(reply, query === '' ? page : `${page}?${query}`)
  } catch (error) {
    if (!(error instanceof RunRefusal)) throw error
    noteForLog(request, { code: error.rescode, detail: error.message })
    return seeOther(reply, `${page}?refused=${error.reason}`)
  }
}

async function sendRun(deps: RunDeps, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const t = textsFor(request)
  const { step, attempt, refused, checked, all, share, withdrawn } = runQuery.parse(request.query)
  const page = await runPage(deps, { ...ownRun(request), step, attempt }, t)
  const refresh = page.run.running || (all && page.run.nextStartsByItself) ? REFRESH_S : undefined
  const alert = refused ? refusalText(refused, t) : ''
  const log = share && page.step && page.log && { step: page.step.id, attempt: String(page.log.number) }
  const link = log && (await shareLink(deps, ownRun(request), log))
  const shown = { page, alert, checked: checked === '1', refresh, share: link || (withdrawn && { withdrawn }) }
  return sendSandboxPage(request, reply, 'sandbox/run', shown, {
    section: 'run',
    scripts: ['sandbox-run.js', 'sandbox-copy.js'],
  })
}

/** The page behind a shared link: the run's log, without forms and without links that need a sign-in. */
export const shareRoutes: FastifyPluginAsync<{ deps: RunDeps }> = async (app, { deps }) => {
  app.get('/shared/:partner_id/:run_id', async (request, reply) => {
    const { partner_id, run_id } = paramsOf(request, sharedParams, noSuchRun)
    const run = { partnerId: partner_id, runId: run_id }
    const key = await openShareKey(deps, run, sharedQuery.parse(request.query).key)
    const t = textsFor(request)
    const { step, attempt } = runQuery.parse(request.query)
    const sharedHref = (id: string) => `${sharedPath(run)}?${new URLSearchParams({ key: key.text, step: id })}`
    const page = await runPage(deps, { ...run, step, attempt, sharedHref }, t)
    const { name } = await showPartner(deps, run.partnerId)
    const shown = { page, partnerName: name, until: key.expiresAt.toISOString(), shared: true }
    return sendSandboxPage(request, reply, 'sandbox/shared', shown)
  })
}
