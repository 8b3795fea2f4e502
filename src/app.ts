import cookie from '@fastify/cookie'
import Fastify, { type FastifyInstance, type FastifyRequest } from 'fastify'
import { accountRoom } from './authorization/account/plugin.ts'
import { developerRoom } from './authorization/developer/plugin.ts'
import { oauthRoom } from './authorization/oauth/plugin.ts'
import { oidcRoom } from './authorization/oidc/plugin.ts'
import { peopleRoom } from './authorization/people/plugin.ts'
import { openRefusalRecorder } from './authorization/refusals/index.ts'
import { registerAccessLedger, resourceRoom } from './authorization/resource/plugin.ts'
import { keepUsage } from './authorization/usage/index.ts'
import { ROUTE_ROLES } from './operations/actions/index.ts'
import { actionsRoom } from './operations/actions/plugin.ts'
import { consoleRoom } from './operations/console/plugin.ts'
import type { ServiceDeps } from './operations/jobs/index.ts'
import { type GatherMetrics, keepLastHour } from './operations/metrics/index.ts'
import { metricsRoom } from './operations/metrics/plugin.ts'
import { hasAdminToken, type IsForOperators, registerOperators } from './operations/operators/index.ts'
import type { Config } from './platform/config/index.ts'
import { databaseState } from './platform/db/installation.ts'
import type { ConnectionGroup } from './platform/db/shares.ts'
import { withShareOf } from './platform/db/sql.ts'
import type { Log } from './platform/lib/log.ts'
import { rawRequestError, unreadableRequest } from './platform/lib/web/bad-request.ts'
import { registerCallerAddress } from './platform/lib/web/caller-address.ts'
import { closeInTime } from './platform/lib/web/drain.ts'
import { failureAnswerOf } from './platform/lib/web/envelope.ts'
import { type Readiness, registerHealth } from './platform/lib/web/health.ts'
import { httpServer } from './platform/lib/web/http-server.ts'
import { enforceHttps } from './platform/lib/web/https-only.ts'
import { refuseForLoad } from './platform/lib/web/load-refusal.ts'
import { collectRoutes, headAsGet, noSuchRoute } from './platform/lib/web/methods.ts'
import { NO_SCHEMAS } from './platform/lib/web/no-schemas.ts'
import { observeRequests, registerSampledLog } from './platform/lib/web/observe.ts'
import { registerPages, sendErrorPage } from './platform/lib/web/page.ts'
import { boundBodyMemory, ignoreContentType } from './platform/lib/web/read-body.ts'
import { RequestLimit, registerRequestLimit } from './platform/lib/web/request-limit.ts'
import { requestLogging } from './platform/lib/web/request-log.ts'
import { noSuchPath } from './platform/lib/web/rescode.ts'
import { registerSecurityTxt } from './platform/lib/web/security-txt.ts'
import { traceRequests } from './platform/lib/web/trace-requests.ts'
import { limitPages, registerRateLimiter } from './platform/throttle/index.ts'
import { sandboxRoom } from './sandbox/portal/plugin.ts'
import { answerUnknownSignedPaths, areaBOf, mtpRoom } from './ticketing/mtp/plugin.ts'

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
  const areaB = areaBOf(config.MTP_PATH_PREFIXES)
  const limit = new RequestLimit(config.MAX_REQUESTS, areaB)
  const app = Fastify({
    ...requestLogging(log),
    serverFactory: (handle) => limit.guard(httpServer(readiness), config.MAX_CONNECTIONS, handle),
    schemaController: NO_SCHEMAS,
    exposeHeadRoutes: false, // headAsGet does what is needed, with one meter, one permission and one guard for both
    rewriteUrl: headAsGet,
    forceCloseConnections: 'idle',
    return503OnClosing: false, // what is in flight at shutdown is served, not refused
    frameworkErrors: unreadableRequest(native, areaB),
    clientErrorHandler: rawRequestError(areaB),
  })
  app.setErrorHandler((error, request, reply) => sendErrorPage(request, reply, failureAnswerOf(error, request), native))
  registerRequestLimit(app, limit)
  app.removeAllContentTypeParsers() // no body is read where no room asks for it
  ignoreContentType(app, ({ is404 }) => is404)
  collectRoutes(app)
  boundBodyMemory(app, config.BODY_MEMORY_MB)
  closeInTime(app, config.SHUTDOWN_GRACE_S)
  const sampledLog = registerSampledLog(app, log)
  const refusals = openRefusalRecorder(withShareOf(deps, 'operators'), sampledLog)
  const endUsage = keepUsage(withShareOf(deps, 'operators'), sampledLog)
  app.addHook('onClose', async () => {
    await refusals.close() // which counts too
    await endUsage()
  })
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
  limit.refuse = refuseForLoad(app, config.PUBLIC_URL, deps.metrics, areaB)
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
  await app.register(developerRoom, givenTo('oauth'))
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
