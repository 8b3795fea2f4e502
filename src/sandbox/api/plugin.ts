import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import type { Deps } from '../../deps.ts'
import { failureAnswerOf, logFailure } from '../../lib/web/envelope.ts'
import { noteForLog } from '../../lib/web/observe.ts'
import {
  acceptRawBodies,
  BaFailed,
  CallRejected,
  callerOf,
  callOf,
  decodedPath,
  keepRejected,
  mwsSignature,
  noSuchPath,
  pathAsSent,
  readableBody,
  refused,
  tooManyCalls,
} from '../../mtp/index.ts'
import { limitRate } from '../../throttle/index.ts'
import { apiRoutes, HEADERS } from './routes.ts'

/** Of one partner in a minute. A run through every step takes about 100 calls. */
const CALLS_PER_MINUTE = 600
const RUNS_PER_MINUTE = 30

/**
 * /sandbox/api: the test run without a browser. Callers sign their requests as partners sign notices (DECISIONS
 * "Signature"). That is what the signature tool tests, so it need not be passed first. Answers have area B's envelope.
 */
export const sandboxApi: FastifyPluginAsync<{ deps: Deps }> = async (app, { deps }) => {
  app.decorateRequest('caller', null)
  acceptRawBodies(app, deps.config)
  const isNewRun = ({ method, routeOptions }: FastifyRequest) =>
    method === 'POST' && routeOptions.url === `${app.prefix}/runs`
  const limited = limitRate(app, {
    kind: 'headless sandbox',
    perMinute: (request) => (isNewRun(request) ? RUNS_PER_MINUTE : CALLS_PER_MINUTE),
    by: (request) => `${isNewRun(request) ? 'runs' : 'calls'} ${callerOf(request).partner_id}`,
    refuse: tooManyCalls,
  })
  app.setErrorHandler((error, request, reply) => sendRefusal(deps, error, request, reply))
  app.setNotFoundHandler((request, reply) => {
    const allowed = allowedMethods(app, decodedPath(pathAsSent(request.raw.url ?? '')))
    return sendRefusal(deps, allowed.length > 0 ? methodNotAllowed(allowed) : noSuchPath(), request, reply)
  })
  app.addHook('onRequest', mwsSignature(deps))
  app.addHook('onRequest', limited)
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

const methodNotAllowed = (allowed: readonly string[]): CallRejected =>
  new CallRejected(`method not allowed; use ${allowed.join(' or ')}`, 'method not allowed', 405, {
    Allow: allowed.join(', '),
  })

/**
 * Answers code 300 and what is wrong. Only calls with a wrong signature are stored among the rejected calls; other
 * refusals explain themselves.
 */
async function sendRefusal(deps: Deps, thrown: unknown, request: FastifyRequest, reply: FastifyReply) {
  const { describe, status, headers, detail } = refusalOf(thrown, request)
  noteForLog(request, { code: 300, ...(detail ? { detail } : {}) })
  const partnerId = String(request.caller?.partner_id ?? claimedPartnerId(request))
  const answer = JSON.stringify(refused(describe, partnerId))
  if (thrown instanceof BaFailed) {
    const { verified } = thrown
    const { ip: address, headers: sent } = request
    const seen = { call: callOf(request), verified, address, headers: sent, body: readableBody(request) }
    const kept = keepRejected(deps, { ...seen, reason: thrown.message, answer }).catch((error: Error) => {
      logFailure(request, error, 'a rejected call could not be recorded')
    })
    if (verified) await kept
  }
  return reply
    .code(status)
    .headers({ ...HEADERS, ...headers })
    .send(answer)
}

function refusalOf(thrown: unknown, request: FastifyRequest): Pick<CallRejected, 'describe' | 'headers'> & Refusal {
  if (thrown instanceof CallRejected) return thrown
  const error = failureAnswerOf(thrown, request)
  const { what, status, headers = {}, detail } = error.failure
  const ours = error.rescode !== 20007
  return {
    describe: ours ? 'the platform cannot respond now; try again later' : (what ?? error.message),
    status: status ?? (ours ? 500 : 200),
    headers,
    detail,
  }
}

interface Refusal {
  readonly status: number
  readonly detail: string | undefined
}

/** The PartnerId that the caller sent: repeating it tells an unsigned caller nothing. */
function claimedPartnerId({ headers }: FastifyRequest): string {
  const given = String(headers.partnerid ?? '')
  return /^\d{1,19}$/.test(given) ? given : ''
}
