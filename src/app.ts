import { randomUUID } from 'node:crypto'
import cookie from '@fastify/cookie'
import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify'
import { accountRoom } from './account/index.ts'
import { pendingMigrations } from './db/migrate.ts'
import type { Deps } from './deps.ts'
import { jobsRoom } from './jobs/index.ts'
import { rawRequestError, unreadableRequest } from './lib/bad-request.ts'
import { closeInTime } from './lib/close-in-time.ts'
import { asRescodeError } from './lib/envelope.ts'
import { type Readiness, registerHealth } from './lib/health.ts'
import type { Log } from './lib/log.ts'
import { observeRequests } from './lib/observe.ts'
import { registerPages, sendErrorPage } from './lib/page.ts'
import { noSuchPath } from './lib/rescode.ts'
import { mtpRoom } from './mtp/index.ts'
import { oauthRoom } from './oauth/index.ts'
import { registryRoom } from './registry/index.ts'
import { resourceRoom } from './resource/index.ts'
import { sandboxRoom } from './sandbox/index.ts'
import { ticketingRoom } from './ticketing/index.ts'
import { heartbeatWith } from './ticketing/test-call.ts'

export interface AppParts {
  readonly deps: Deps
  readonly log: Log
  readonly readiness: Readiness
}

/** The one Fastify app: what is global first, then the rooms in order. */
export async function buildApp({ deps, log, readiness }: AppParts): Promise<FastifyInstance> {
  const { config } = deps
  const native = config.ENVELOPE_HTTP_STATUS === 'native'
  const app = Fastify({
    loggerInstance: log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'request' }),
    genReqId: () => randomUUID(),
    trustProxy: config.TRUST_PROXY.length > 0 ? [...config.TRUST_PROXY] : false,
    exposeHeadRoutes: false,
    requestTimeout: 30_000,
    forceCloseConnections: 'idle',
    return503OnClosing: false, // what is in flight at shutdown is served, not refused
    http: { maxHeaderSize: 128 * 1024 },
    frameworkErrors: unreadableRequest(native),
    clientErrorHandler: rawRequestError,
  })
  // Fastify's own would repeat the URL, and so the secrets in its query.
  app.setNotFoundHandler((request, reply) => sendErrorPage(request, reply, noSuchPath(), native))
  app.setErrorHandler((error, request, reply) => sendErrorPage(request, reply, asRescodeError(error, request), native))
  closeInTime(app, config.SHUTDOWN_GRACE_S)
  observeRequests(app, log)
  registerHealth(app, readiness, () => pendingMigrations(deps.db))
  await app.register(cookie)
  await registerPages(app)
  await app.register(registryRoom, { deps, testCallWith: heartbeatWith })
  await app.register(accountRoom, { deps })
  await app.register(oauthRoom, { deps })
  await app.register(resourceRoom, { deps })
  await app.register(mtpRoom, { deps })
  await app.register(ticketingRoom, { deps })
  await app.register(sandboxRoom, { deps })
  await app.register(jobsRoom, { deps })
  return app
}
