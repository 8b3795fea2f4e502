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
import { noteUnread, refuseForLoad } from './platform/lib/web/load-refusal.ts'
import { collectRoutes, headAsGet, noSuchRoute } from './platform/lib/web/methods.ts'
import { NO_SCHEMAS } from './platform/lib/web/no-schemas.ts'
import { observeRequests, registerSampledLog } from './platform/lib/web/observe.ts'
import { registerPages, sendErrorPage } from './platform/lib/web/page.ts'
import { boundBodyMemory, ignoreContentType } from './platform/lib/web/read-body.ts'
import { RequestLimit, registerRequestLimit } from './platform/lib/web/request-limit.ts'
import { requestLogging } from './platform/lib/web/request-log.ts'
import { decodedPath, pathAsSent } from './platform/lib/web/request-target.ts'
import { noSuchPath } from './platform/lib/web/rescode.ts'
import { registerSecurityTxt } from './platform/lib/web/security-txt.ts'
import { traceRequests } from './platform/lib/web/trace-requests.ts'
import { limitPages } from './platform/throttle/index.ts'
import { sandboxRoom } from './sandbox/portal/plugin.ts'
import { answerUnknownSignedPaths, areaBOf, mtpRoom } from './ticketing/mtp/plugin.ts'

export interface AppParts {
  readonly deps: ServiceDeps
  readonly log: Log
  readonly readiness: Readiness
  /** Gathers the metrics of all processes on this port; by default only this one's. */
  readonly gatherMetrics?: GatherMetrics | undefined
  /** With ADMIN_PORT: whether a request came in on that listener. */
  readonly isForOperators?: IsForOperators
}

/** Whether operators' routes are reachable only from this machine: `/metrics` needs no token then. */
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
    exposeHeadRoutes: false, // headAsGet instead: HEAD shares the meter, permission and guard of GET
    rewriteUrl: headAsGet,
    forceCloseConnections: 'idle',
    return503OnClosing: false, // requests in flight at shutdown are served, not refused
    frameworkErrors: unreadableRequest(native, areaB),
    clientErrorHandler: rawRequestError(areaB, (socket) => limit.answersFirst(socket)),
  })
  app.setErrorHandler((error, request, reply) => sendErrorPage(request, reply, failureAnswerOf(error, request), native))
  registerRequestLimit(app, limit)
  app.removeAllContentTypeParsers() // bodies are read only where a room asks for it
  ignoreContentType(app, ({ is404 }) => is404)
  collectRoutes(app)
  boundBodyMemory(app, config.BODY_MEMORY_MB)
  closeInTime(app, config.SHUTDOWN_GRACE_S)
  const sampledLog = registerSampledLog(app, log)
  const refusals = openRefusalRecorder(withShareOf(deps, 'operators'), sampledLog)
  const endUsage = keepUsage(withShareOf(deps, 'operators'), sampledLog)
  app.addHook('onClose', async () => {
    await refusals.close() // before usage, which counts refusals too
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
  limit.onUnread = noteUnread(app)
  app.decorate('rateLimiter', deps.rateLimiter)
  registerOperators(app, deps, isForOperators, ROUTE_ROLES)
  answerUnknownSignedPaths(app, withShareOf(deps, 'notices'))
  /** With ADMIN_PORT, /metrics does not exist on PORT, whatever the method. */
  const isHidden = (request: FastifyRequest) =>
    !isForOperators(request) && decodedPath(pathAsSent(request.url)) === '/metrics'
  // Fastify's own handler would echo the URL, with the secrets in its query.
  app.setNotFoundHandler({ preHandler: limitPages(app, config) }, (request, reply) =>
    sendErrorPage(request, reply, isHidden(request) ? noSuchPath() : noSuchRoute(request), native),
  )
  const optionsOf = (group: ConnectionGroup) => ({ deps: withShareOf(deps, group) })
  await app.register(accountRoom, optionsOf('oauth'))
  await app.register(oauthRoom, optionsOf('oauth'))
  await app.register(oidcRoom, optionsOf('oauth'))
  await app.register(resourceRoom, optionsOf('resource'))
  await app.register(peopleRoom, optionsOf('oauth'))
  await app.register(developerRoom, optionsOf('oauth'))
  await app.register(mtpRoom, optionsOf('notices'))
  await app.register(sandboxRoom, optionsOf('sandbox'))
  await app.register(actionsRoom, optionsOf('operators'))
  const gather = gatherMetrics ?? (async () => [await deps.metrics.registry.getMetricsAsJSON()])
  const forgetHour = keepLastHour(deps.metrics, deps.clock)
  app.addHook('onClose', async () => forgetHour())
  await app.register(metricsRoom, { ...optionsOf('operators'), gather, open: hasOwnLoopbackPort(config) })
  await app.register(consoleRoom, { ...optionsOf('operators'), gather })
  return app
}
