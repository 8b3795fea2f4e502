import type { FastifyInstance, FastifyPluginAsync, FastifyRequest } from 'fastify'
import type { Deps } from '../../deps.ts'
import { decodedPath, pathAsSent } from '../../lib/web/request-target.ts'
import { callerOf, mwsSignature, passSignatureTool, type RejectionPolicy, signedRoutes } from '../../mws/index.ts'
import { methodNotAllowed, NotAuthenticated, noSuchPath, tooManyCalls } from '../../mws-wire/index.ts'
import { limitRate } from '../../throttle/index.ts'
import { apiRoutes } from './routes.ts'

/** Of one partner in a minute. A run through every step takes about 100 calls. */
const CALLS_PER_MINUTE = 600
const RUNS_PER_MINUTE = 30

/** Only calls with a wrong signature are kept among the rejected calls; other refusals explain themselves. */
const REFUSALS: RejectionPolicy = {
  code: () => 300,
  isKept: (rejected) => rejected instanceof NotAuthenticated,
  unreadable: ({ message, failure: { what = message, status = 200 } }) => ({ describe: what, status }),
}

/**
 * /sandbox/api: the test run without a browser. Callers sign their requests as partners sign notices (DECISIONS
 * "Signature"). That is what the signature tool tests, so a call that gets through passes the tool. Answers have area B's envelope.
 */
export const sandboxApi: FastifyPluginAsync<{ deps: Deps }> = async (app, { deps }) => {
  signedRoutes(app, deps, REFUSALS)
  const isNewRun = ({ method, routeOptions }: FastifyRequest) =>
    method === 'POST' && routeOptions.url === `${app.prefix}/runs`
  const limited = limitRate(app, {
    kind: 'headless sandbox',
    perMinute: (request) => (isNewRun(request) ? RUNS_PER_MINUTE : CALLS_PER_MINUTE),
    by: (request) => `${isNewRun(request) ? 'runs' : 'calls'} ${callerOf(request).partner_id}`,
    refuse: tooManyCalls,
  })
  app.setNotFoundHandler(({ raw }) => {
    const allowed = allowedMethods(app, decodedPath(pathAsSent(raw.url ?? '')))
    throw allowed.length > 0 ? methodNotAllowed(allowed) : noSuchPath()
  })
  app.addHook('onRequest', mwsSignature(deps))
  app.addHook('onRequest', limited)
  app.addHook('onRequest', (request) => passSignatureTool(deps, callerOf(request).partner_id))
  await app.register(apiRoutes, { deps })
}

const METHODS = ['GET', 'POST'] as const

/** Routes are looked up by their pattern. */
function allowedMethods(app: FastifyInstance, path: string): string[] {
  const below = path.slice(app.prefix.length)
  const pattern = below.replace(/^\/runs\/[^/]+/, '/runs/:run_id').replace(/\/steps\/[^/]+/, '/steps/:step_id')
  if (/[:*]/.test(pattern.replace(':run_id', '').replace(':step_id', ''))) return []
  return METHODS.filter((method) => app.hasRoute({ method, url: app.prefix + pattern }))
}
