import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import { limitRate } from '../../../platform/throttle/index.ts'
import {
  callerOf,
  mwsSignature,
  passSignatureTool,
  type RejectionPolicy,
  signedRoutes,
} from '../../../ticketing/mws/index.ts'
import { methodNotAllowed, NotAuthenticated, noSuchPath, tooManyCalls } from '../../../ticketing/mws-wire/index.ts'
import type { RunDeps } from '../../certification/index.ts'
import { apiRoutes } from './routes.ts'

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
