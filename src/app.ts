import cookie from '@fastify/cookie'
import Fastify, { type FastifyInstance, type FastifyRequest } from 'fastify'
import { accountRoom } from './account/plugin.ts'
import { ROUTE_ROLES } from './actions/index.ts'
import { actionsRoom } from './actions/plugin.ts'
import type { Config } from './config/index.ts'
import { consoleRoom } from './console/plugin.ts'
import { databaseState } from './db/installation.ts'
import type { ConnectionGroup } from './db/shares.ts'
import { withShareOf } from './db/sql.ts'
import { developerRoom } from './developer/plugin.ts'
import type { ServiceDeps } from './jobs/index.ts'
import type { Log } from './lib/log.ts'
import { rawRequestError, unreadableRequest } from './lib/web/bad-request.ts'
import { registerCallerAddress } from './lib/web/caller-address.ts'
import { closeInTime } from './lib/web/drain.ts'
import { failureAnswerOf } from './lib/web/envelope.ts'
import { type Readiness, registerHealth } from './lib/web/health.ts'
import { httpServer } from './lib/web/http-server.ts'
import { enforceHttps } from './lib/web/https-only.ts'
import { refuseForLoad } from './lib/web/load-refusal.ts'
import { collectRoutes, headAsGet, noSuchRoute } from './lib/web/methods.ts'
import { observeRequests } from './lib/web/observe.ts'
import { registerPages, sendErrorPage } from './lib/web/page.ts'
import { boundBodyMemory } from './lib/web/read-body.ts'
import { RequestLimit, registerRequestLimit } from './lib/web/request-limit.ts'
import { requestLogging } from './lib/web/request-log.ts'
import { noSuchPath } from './lib/web/rescode.ts'
import { registerSecurityTxt } from './lib/web/security-txt.ts'
import { traceRequests } from './lib/web/trace-requests.ts'
import { type GatherMetrics, keepLastHour } from './metrics/index.ts'
import { metricsRoom } from './metrics/plugin.ts'
import { answerUnknownSignedPaths, mtpRoom } from './mtp/plugin.ts'
import { oauthRoom } from './oauth/plugin.ts'
import { oidcRoom } from './oidc/plugin.ts'
import { hasAdminToken, type IsForOperators, registerOperators } from './operators/index.ts'
import { peopleRoom } from './people/plugin.ts'
import { openRefusalRecorder } from './refusals/index.ts'
import { registerAccessLedger, resourceRoom } from './resource/plugin.ts'
import { sandboxRoom } from './sandbox/plugin.ts'
import { limitPages, registerRateLimiter } from './throttle/index.ts'

export interface AppParts {
  readonly deps: ServiceDeps
  readonly log: Log
  readonly readiness: Readiness
  /** The metrics of all processes that answer on this port; without it, this one's. */
  readonly gatherMetrics?: GatherMetrics | undefined
  /** With ADMIN_PORT: whether a request came in on that listener. */
  readonly isForOperators?: IsForOperators
}

/** Whether what is for operators is answered to this machine only: `/metrics` asks for no token there. */
const hasOwnLoopbackPort = ({ ADMIN_PORT, ADMIN_HOST }: Config): boolean =>
  ADMIN_PORT !== undefined && ['127.0.0.1', '::1', 'localhost'].includes(ADMIN_HOST)

/** Zod reads what comes in, so no route has a schema: without this, every start would load compilers for them. */
const noSchemas = () => {
  throw new Error('a route has no schema here: zod reads what comes in')
}

/** The one Fastify app: what is global first, then the rooms in order. */
export async function buildApp({
  deps,
  log,
  readiness,
  gatherMetrics,
  isForOperators = () => true,
}: AppParts): Promise<FastifyInstance> {
  const { config } = deps
  const native = config.ENVELOPE_HTTP_STATUS === 'native'
  const limit = new RequestLimit(config.MAX_REQUESTS)
  const app = Fastify({
    ...requestLogging(log),
    serverFactory: (handle) => limit.guard(httpServer(readiness), config.MAX_CONNECTIONS, handle),
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
    exposeHeadRoutes: false, // headAsGet does what is needed, with one meter, one permission and one guard for both
    rewriteUrl: headAsGet,
    forceCloseConnections: 'idle',
    return503OnClosing: false, // what is in flight at shutdown is served, not refused
    frameworkErrors: unreadableRequest(native),
    clientErrorHandler: rawRequestError,
  })
  app.setErrorHandler((error, request, reply) => sendErrorPage(request, reply, failureAnswerOf(error, request), native))
  registerRequestLimit(app, limit)
  app.removeAllContentTypeParsers() // no body is read where no room asks for it
  collectRoutes(app)
  boundBodyMemory(app, config.BODY_MEMORY_MB)
  closeInTime(app, config.SHUTDOWN_GRACE_S)
  const refusals = openRefusalRecorder(withShareOf(deps, 'operators'))
  app.addHook('onClose', () => refusals.close())
  registerAccessLedger(app, deps)
  if (deps.tracing) traceRequests(app, deps.tracing)
  observeRequests(app, { log, config, metrics: deps.metrics, onRefused: refusals.record })
  enforceHttps(app, config.PUBLIC_URL)
  registerCallerAddress(app, config.TRUST_PROXY, log)
  const inProgress = () => limit.inProgress
  deps.metrics.watch('gatehouse_http_requests_in_progress', 'Requests that are being answered', inProgress)
  registerSecurityTxt(app, config, deps.clock)
  registerHealth(app, readiness, log, {
    databaseState: databaseState(deps.db.reserved(), deps.keys),
    isOperator: (request) => isForOperators(request) && hasAdminToken(config, request.headers.authorization),
  })
  await app.register(cookie)
  await registerPages(app, config.PUBLIC_URL)
  limit.refuse = refuseForLoad(app, config.PUBLIC_URL, deps.metrics)
  registerRateLimiter(app, deps.rateLimiter)
  registerOperators(app, deps, isForOperators, ROUTE_ROLES)
  answerUnknownSignedPaths(app, withShareOf(deps, 'notices'))
  /** With ADMIN_PORT it does not exist on the other listener, whatever the method. */
  const isHidden = (request: FastifyRequest) => !isForOperators(request) && /^\/metrics(?:\?|$)/.test(request.url)
  // Fastify's own would repeat the URL, and so the secrets in its query.
  app.setNotFoundHandler({ preHandler: limitPages(app, config) }, (request, reply) =>
    sendErrorPage(request, reply, isHidden(request) ? noSuchPath() : noSuchRoute(request), native),
  )
  const givenTo = (group: ConnectionGroup) => ({ deps: withShareOf(deps, group) })
  await app.register(accountRoom, givenTo('oauth'))
  await app.register(oauthRoom, givenTo('oauth'))
  await app.register(oidcRoom, givenTo('oauth'))
  await app.register(resourceRoom, givenTo('resource'))
  await app.register(peopleRoom, givenTo('oauth'))
  await app.register(developerRoom, { deps })
  await app.register(mtpRoom, givenTo('notices'))
  await app.register(sandboxRoom, givenTo('sandbox'))
  await app.register(actionsRoom, givenTo('operators'))
  const gather = gatherMetrics ?? (async () => [await deps.metrics.registry.getMetricsAsJSON()])
  const forgetHour = keepLastHour(deps.metrics, deps.clock)
  app.addHook('onClose', async () => forgetHour())
  await app.register(metricsRoom, { ...givenTo('operators'), gather, open: hasOwnLoopbackPort(config) })
  await app.register(consoleRoom, { ...givenTo('operators'), gather })
  return app
}
