import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Log } from '../log.ts'
import type { Metrics } from '../metrics.ts'
import { openSampledLog, type SampledLog } from '../sampled-log.ts'
import type { Span } from '../tracing.ts'
import { methodAsSent } from './methods.ts'
import { RequestLog } from './request-log.ts'
import { FAILED, OK, OUTCOMES, REFUSED, type RequestOutcome, type RouteMeter } from './request-meter.ts'

/** What a room adds to a request's log line: never a secret, token, code, phone number or query string. */
interface LogNote {
  appKey?: string
  /** The caller names that app and is not authenticated; not logged. */
  isAppUnauthenticated?: true
  partnerId?: string
  clientId?: string
  /** The caller of /admin/v1. */
  operator?: string
  /** Rescode of area A, or code of area B. */
  code?: number
  /** Its name in a room's table of failures. */
  failure?: string
  /** The reason, which the answer does not give. */
  detail?: string
  /** Whose data was requested; not logged. */
  user?: { readonly cid: number; readonly userId: string }
}

declare module 'fastify' {
  interface FastifyRequest {
    logNote: LogNote | null
    /** The response stays open on purpose (a stream, a long poll), so its duration is not measured. */
    staysOpen: boolean
    span?: Span
  }
  interface FastifyInstance {
    /** For lines that many requests could cause at once. */
    sampledLog: SampledLog
  }
  interface FastifyContextConfig {
    /** The notice that the route accepts, for the metrics. */
    notice?: string
  }
}

export function noteForLog(request: FastifyRequest, note: LogNote): void {
  request.logNote = Object.assign(request.logNote ?? {}, note)
}

interface Observation {
  readonly log: Log
  readonly config: { readonly LOG_REQUESTS: 'failures' | 'all' | 'off'; readonly SLOW_MS: number }
  readonly metrics: Metrics
  /** Called for each request whose code reports a failure. Must be quick. */
  readonly onRefused: (refused: ReportedRefusal) => void
}

export const actorOf = <Kind extends string>({ ip, id }: FastifyRequest, kind: Kind, name?: string) => ({
  kind,
  name,
  address: ip,
  requestId: id,
})

/** Call before registering what logs on close: onClose hooks run last in, first out. */
export function registerSampledLog(app: FastifyInstance, log: Log): SampledLog {
  const sampledLog = openSampledLog(log)
  app.decorate('sampledLog', sampledLog)
  app.addHook('onClose', async () => sampledLog.close())
  return sampledLog
}

/** Counts every request by its route pattern, since the URL may hold secrets, and writes the request log. */
export function observeRequests(app: FastifyInstance, { log, config, metrics, onRefused }: Observation): void {
  app.decorateRequest('logNote', null)
  app.decorateRequest('staysOpen', false)
  const requestLog = new RequestLog(log, metrics.linesLeftOut)
  app.addHook('onClose', async () => requestLog.summarize())
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('X-Request-Id', request.id)
    done()
  })
  const { SLOW_MS } = config
  const [all, off] = [config.LOG_REQUESTS === 'all', config.LOG_REQUESTS === 'off']

  /** Counts only authenticated apps and partners: other callers could name anybody. */
  const countActivity = ({ notice }: RouteMeter, note: LogNote | null, outcome: (typeof OUTCOMES)[number]): void => {
    if (note === null || note.operator !== undefined) return
    if (note.appKey !== undefined && !note.isAppUnauthenticated) metrics.activity.count('app', note.appKey, outcome)
    else if (note.partnerId !== undefined && notice !== undefined)
      metrics.activity.count('notice', note.partnerId, outcome)
  }

  const finished = (meter: RouteMeter, request: FastifyRequest, reply: FastifyReply): void => {
    const { statusCode } = reply
    const ms = request.staysOpen ? undefined : reply.elapsedTime
    const code = request.logNote?.code
    // Area A and B report failures with status 200 too.
    const refused = statusCode >= 400 || (code !== undefined && code !== 0 && code !== 200)
    const outcome: RequestOutcome = refused ? (statusCode >= 500 ? FAILED : REFUSED) : OK
    meter.count(outcome, ms)
    countActivity(meter, request.logNote, OUTCOMES[outcome])
    if (refused && code !== undefined) {
      meter.countCode(code)
      onRefused(refusedRequest(request, statusCode))
    }
    if (off) return
    requestLog.seen()
    const slow = ms !== undefined && ms > SLOW_MS
    if (all) request.log[outcome === FAILED ? 'warn' : 'info'](lineOf(meter, request, statusCode, ms), 'request')
    else if (refused || slow) {
      const line = {
        level: outcome === FAILED ? 'warn' : 'info',
        caller: callerOf(request),
        kind: `${meter.route} ${statusCode} ${code ?? ''}`,
        fields: () => lineOf(meter, request, statusCode, ms),
      } as const
      requestLog.write(outcome === FAILED ? 'failed' : outcome === REFUSED ? 'refused' : 'slow', line, request.log)
    }
  }

  // A hook per route: looking up the route for each request would cost more than counting it.
  app.addHook('onRoute', (route) => {
    const meter = metrics.requests.route([route.method].flat().join(), route.url, route.config?.notice)
    route.onResponse = [
      (request: FastifyRequest, reply: FastifyReply, done: () => void) => {
        finished(meter, request, reply)
        done()
      },
      ...[route.onResponse ?? []].flat(),
    ]
  })
  app.addHook('onResponse', (request, reply, done) => {
    if (request.is404) finished(metrics.requests.unknown, request, reply)
    done()
  })
}

const callerOf = ({ logNote, ip }: FastifyRequest): string => logNote?.appKey ?? logNote?.clientId ?? ip

/** A refused request: its URL as sent, its Authorization and its body may hold secrets. */
const refusedRequest = (request: FastifyRequest, status: number) => ({
  id: request.id,
  method: methodAsSent(request),
  url: request.raw.url ?? '',
  status,
  address: request.ip,
  note: (request.logNote ?? {}) as LogNote,
  authorization: request.headers.authorization,
  body: request.body,
})
export type ReportedRefusal = ReturnType<typeof refusedRequest>

function lineOf({ route }: RouteMeter, request: FastifyRequest, status: number, ms: number | undefined): object {
  const { user: _user, isAppUnauthenticated: _named, ...note } = request.logNote ?? {}
  const rounded = ms === undefined ? undefined : Math.round(ms * 10) / 10
  return { method: methodAsSent(request), route, status, ms: rounded, ...note, trace: request.span?.traceId }
}
