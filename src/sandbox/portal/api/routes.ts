import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import type { z } from 'zod'
import { parseInput } from '../../../platform/lib/json/input.ts'
import { stringifyLossless } from '../../../platform/lib/json/lossless.ts'
import { localized } from '../../../platform/lib/localized-text.ts'
import type { Log } from '../../../platform/lib/log.ts'
import { isUuid } from '../../../platform/lib/uuid.ts'
import { acceptedTypes } from '../../../platform/lib/web/accept.ts'
import { translator } from '../../../platform/lib/web/locale.ts'
import { actorOf, noteForLog } from '../../../platform/lib/web/observe.ts'
import { localeOfRequest } from '../../../platform/lib/web/page.ts'
import { limitRate } from '../../../platform/throttle/index.ts'
import {
  callerOf,
  jsonBytes,
  mwsSignature,
  passSignatureTool,
  type RejectionPolicy,
  readNotice,
  signedRoutes,
} from '../../../ticketing/mws/index.ts'
import {
  bodyRejected,
  methodNotAllowed,
  NotAuthenticated,
  noSuchPath,
  successEnvelope,
  tooManyCalls,
} from '../../../ticketing/mws-wire/index.ts'
import {
  changeConditions,
  currentRun,
  listRuns,
  nextStep,
  noSuchRun,
  type RunDeps,
  type RunRef,
  requireRun,
  showRun,
  startAll,
  startStep,
  stopStep,
  type Waiting,
} from '../../certification/index.ts'
import { giveContacts, ownContacts } from '../contacts.ts'
import { onDisconnect } from '../guard.ts'
import { acceptRun } from '../notify/notifications.ts'
import { OpenRequests } from '../open-requests.ts'
import { sellerProgress } from '../seller-progress.ts'
import { shareLink, withdrawLinks } from '../share.ts'
import { startRunFromApi } from '../start-run.ts'
import { noticeCurl } from '../traffic/curl.ts'
import {
  acceptanceAnswer,
  contactsAnswer,
  eventAnswer,
  reportRun,
  runAnswer,
  runSummary,
  sellerAnswer,
} from './answer.ts'
import { junitOf } from './junit.ts'
import { eventsQuery, newConditions, newContacts, newRun, PRESENT } from './wire.ts'

/** Limits per partner. A run through every step takes about 100 calls. */
const CALLS_PER_MINUTE = 600
const RUNS_PER_MINUTE = 30

/** Only calls with a wrong signature are stored as rejected calls; other refusals explain themselves. */
const REFUSALS: RejectionPolicy = {
  code: () => 300,
  isKept: (rejected) => rejected instanceof NotAuthenticated,
  unreadable: ({ message, failure: { what = message, status = 200 } }) => ({ describe: String(what), status }),
}

/**
 * /sandbox/api: the test run without a browser. Requests are signed like notices (REFERENCE "Signature"). That is what
 * the signature tool tests, so an accepted call also passes the tool. Responses have area B's envelope.
 */
export const sandboxApi: FastifyPluginAsync<{ deps: RunDeps }> = async (app, { deps }) => {
  signedRoutes(app, deps, REFUSALS)
  const isNewRun = ({ method, routeOptions }: FastifyRequest) =>
    method === 'POST' && routeOptions.url === `${app.prefix}/runs`
  const limited = limitRate(app, {
    kind: 'headless sandbox',
    perMinute: (request) => (isNewRun(request) ? RUNS_PER_MINUTE : CALLS_PER_MINUTE),
    by: (request) => `${isNewRun(request) ? 'runs' : 'calls'} ${callerOf(request).partner_id}`,
    refuse: tooManyCalls,
  })
  app.setNotFoundHandler(({ url }) => {
    const allowed = app.allowedMethods(url)
    throw allowed.length > 0 ? methodNotAllowed(allowed) : noSuchPath()
  })
  app.addHook('onRequest', mwsSignature(deps))
  app.addHook('onRequest', limited)
  app.addHook('onRequest', (request) => passSignatureTool(deps, callerOf(request).partner_id))
  await app.register(apiRoutes, { deps })
}

const HEADERS = {
  'Content-Type': 'application/json; charset=utf-8',
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
} as const
const XML_TYPE = 'application/xml; charset=utf-8'

/** Simultaneous requests that wait for lines: in this process, and per partner. */
const MAX_WAITING = { process: 1_000, partner: 20 }
const RETRY_S = 2

interface RunRoute {
  Params: { run_id: string }
}
interface StepRoute {
  Params: RunRoute['Params'] & { step_id: string }
}

/** The test run for programs; every route is behind the signature guard. `present` stands for the current run's id. */
export async function apiRoutes(app: FastifyInstance, { deps }: { deps: RunDeps }): Promise<void> {
  const longPolls = new OpenRequests()
  app.addHook('preClose', async () => longPolls.endAll())

  app.post('/runs', async (request, reply) => {
    const { run_id } = await startRunFromApi(deps, callerOf(request).partner_id, bodyOf(request, newRun))
    return sendRun(request, reply, run_id)
  })

  app.get('/contacts', async (request, reply) =>
    send(request, reply, contactsAnswer(await ownContacts(deps, callerOf(request).partner_id))),
  )

  app.post('/contacts', async (request, reply) => {
    const { body } = bodyOf(request, newContacts)
    const acting = { ...deps, actor: actorOf(request, 'partner') }
    return send(request, reply, contactsAnswer(await giveContacts(acting, callerOf(request).partner_id, body)))
  })

  app.get('/runs', async (request, reply) => {
    const { partner_id: partnerId } = callerOf(request)
    const [seller, runs] = await Promise.all([sellerProgress(deps, partnerId), listRuns(deps, partnerId)])
    return send(request, reply, { standing: sellerAnswer(seller), runs: runs.map(runSummary) })
  })

  app.get<RunRoute>('/runs/:run_id', async (request, reply) => sendRun(request, reply, (await runOf(request)).runId))

  /** A route that changes a run or one of its steps, and answers with the run. */
  const change = (path: string, work: (run: RunRef, request: FastifyRequest<StepRoute>) => Promise<unknown>) =>
    app.post<StepRoute>(`/runs/:run_id/${path}`, async (request, reply) => {
      const run = await runOf(request)
      await work(run, request)
      return sendRun(request, reply, run.runId)
    })
  change('start-all', (run, { log }) => startAll(deps, log as Log, run))
  change('share/withdraw', async ({ partnerId, runId }) => {
    await requireRun(deps, partnerId, runId)
    await withdrawLinks(deps, runId)
  })
  change('steps/:step_id/stop', async (run, { params }) => {
    await stopStep(deps, { ...run, stepId: params.step_id })
    deps.logFollowers.pollNow()
  })
  change('steps/:step_id/next', ({ partnerId, runId }, { params }) => nextStep(deps, partnerId, runId, params.step_id))

  app.post<RunRoute>('/runs/:run_id/conditions', async (request, reply) => {
    const { body } = bodyOf(request, newConditions)
    const { partnerId, runId } = await runOf(request)
    await changeConditions(deps, partnerId, runId, body)
    return sendRun(request, reply, runId)
  })

  app.post<RunRoute>('/runs/:run_id/share', async (request, reply) => {
    const run = await runOf(request)
    await requireRun(deps, run.partnerId, run.runId)
    return send(request, reply, { share: await shareLink(deps, run) })
  })

  app.post<StepRoute>('/runs/:run_id/steps/:step_id/start', async (request, reply) => {
    const run = await runOf(request)
    const { step_id } = request.params
    const attempt_id = await startStep(deps, request.log as Log, { ...run, stepId: step_id })
    return send(request, reply, { run_id: run.runId, step_id, attempt_id })
  })

  app.get<RunRoute>('/runs/:run_id/events', async (request, reply) => {
    const query = parseInput(eventsQuery, request.query)
    const { partnerId, runId } = await runOf(request)
    const { process, partner } = MAX_WAITING
    const { signal, close } = longPolls.open({ process, [`partner ${partnerId}`]: partner }, () =>
      tooManyCalls(RETRY_S),
    )
    onDisconnect(reply, close)
    if (query.wait > 0) app.stopCounting(reply)
    // Otherwise the last line of an attempt whose process has died would never arrive.
    await requireRun(deps, partnerId, runId)
    const events = await deps.logFollowers.nextEvents(runId, query.after, signal, query.wait * 1_000)
    const texts = { t: textsOf(request), curlOf: (waiting: Waiting) => noticeCurl(deps, callerOf(request), waiting) }
    const last_seq = events.at(-1)?.seq ?? query.after
    return send(request, reply, { events: events.map((event) => eventAnswer(event, texts)), last_seq })
  })

  app.post<RunRoute>('/runs/:run_id/accept', async (request, reply) => {
    const { partnerId, runId } = await runOf(request)
    return send(request, reply, acceptanceAnswer(await acceptRun(deps, partnerId, runId)))
  })

  app.get<RunRoute>('/runs/:run_id/report', async (request, reply) => {
    const [preferred] = acceptedTypes(request.headers.accept)
    if (preferred === 'application/xml' || preferred === 'text/xml') return sendJunit(request, reply)
    return send(request, reply, { report: await report(request) })
  })

  app.get<RunRoute>('/runs/:run_id/report.xml', sendJunit)

  async function report(request: FastifyRequest<RunRoute>) {
    const { partnerId, runId } = await runOf(request)
    return reportRun(deps, partnerId, runId, textsOf(request))
  }

  async function sendJunit(request: FastifyRequest<RunRoute>, reply: FastifyReply): Promise<FastifyReply> {
    const xml = junitOf(await report(request), textsOf(request))
    noteForLog(request, { code: 200 })
    return reply.headers({ ...HEADERS, 'Content-Type': XML_TYPE }).send(xml)
  }

  /** A malformed id is reported as not found, like an unknown one. */
  async function runOf(request: FastifyRequest<RunRoute>): Promise<RunRef> {
    const { run_id } = request.params
    const { partner_id: partnerId } = callerOf(request)
    if (run_id === PRESENT) return { partnerId, runId: (await currentRun(deps, partnerId)).run_id }
    if (!isUuid(run_id)) throw noSuchRun()
    return { partnerId, runId: run_id }
  }

  async function sendRun(request: FastifyRequest, reply: FastifyReply, runId: string): Promise<FastifyReply> {
    const view = await showRun(deps, callerOf(request).partner_id, runId)
    return send(request, reply, { run: runAnswer(view, textsOf(request)) })
  }
}

/** Throws code 300 for an invalid body, or one with another partner's id. */
function bodyOf<Body extends { readonly partnerId?: string | undefined }>(
  request: FastifyRequest,
  shape: z.ZodType<Body>,
): Body {
  const read = readNotice(shape, jsonBytes(request))
  if ('problem' in read) throw bodyRejected(read.problem)
  const { partnerId: given } = read.notice
  if (given !== undefined && BigInt(given) !== callerOf(request).partner_id) {
    throw bodyRejected(localized('body-of-another'))
  }
  return read.notice
}

const textsOf = (request: FastifyRequest) => translator(localeOfRequest(request))

/** Area B's success envelope with the endpoint's own fields; 64-bit ids are plain numbers. */
function send(request: FastifyRequest, reply: FastifyReply, fields: object): FastifyReply {
  noteForLog(request, { code: 200 })
  return reply.headers(HEADERS).send(stringifyLossless({ ...successEnvelope(callerOf(request).partner_id), ...fields }))
}
