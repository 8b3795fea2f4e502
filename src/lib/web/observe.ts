import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Log } from '../log.ts'
import { openSampledLog, type SampledLine, type SampledLog } from '../sampled-log.ts'

/**
 * The fields that a room adds to the one log line of a request. Never a secret, a token, a code, a phone number or a
 * query string.
 */
export interface LogNote {
  appKey?: string
  partnerId?: string
  /** rescode of area A, code of area B */
  code?: number
  /** The reason, which is not sent. */
  detail?: string
}

declare module 'fastify' {
  interface FastifyRequest {
    logNote: LogNote | null
  }
  interface FastifyInstance {
    /** For lines that many requests could cause at once. */
    sampledLog: SampledLog
  }
}

export function noteForLog(request: FastifyRequest, note: LogNote): void {
  request.logNote = Object.assign(request.logNote ?? {}, note)
}

/**
 * One line per request at level debug, by route pattern: the URL itself may hold secrets. Writing a line costs about as
 * much as answering, so above debug there is one line a minute for each kind of refusal (info) and of failure (warn).
 */
export function observeRequests(app: FastifyInstance, log: Log): void {
  app.decorateRequest('logNote', null)
  const sampled = openSampledLog(log)
  app.decorate('sampledLog', sampled)
  app.addHook('onClose', async () => sampled.close())
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('X-Request-Id', request.id)
    done()
  })
  const everyOne = log.isLevelEnabled('debug')
  app.addHook('onResponse', (request, reply, done) => {
    const { statusCode } = reply
    if (everyOne) request.log[statusCode >= 500 ? 'warn' : 'debug'](lineOf(request, reply), 'request')
    else if (statusCode >= 400 || isRefusal(request.logNote)) sampled.write(sampledLine(request, reply), request.log)
    done()
  })
}

/** An answer of area A or B that is no success, whatever its status. */
const isRefusal = (note: LogNote | null): boolean => note?.code !== undefined && note.code !== 0 && note.code !== 200

const routeOf = ({ routeOptions }: FastifyRequest): string => routeOptions.url ?? '(no route)'

function lineOf(request: FastifyRequest, reply: FastifyReply): object {
  const ms = Math.round(reply.elapsedTime * 10) / 10
  return { method: request.method, route: routeOf(request), status: reply.statusCode, ms, ...request.logNote }
}

function sampledLine(request: FastifyRequest, reply: FastifyReply): SampledLine {
  const failed = reply.statusCode >= 500
  return {
    level: failed ? 'warn' : 'info',
    kind: `${routeOf(request)} ${reply.statusCode} ${request.logNote?.code ?? ''}`,
    message: failed ? 'request' : 'request refused',
    fields: () => lineOf(request, reply),
  }
}

/**
 * Where TRUST_PROXY is empty: logs once that requests come through a proxy, whose address then counts for every caller.
 */
export function tellOfUntrustedProxy(app: FastifyInstance, log: Log): void {
  let told = false
  app.addHook('onRequest', (request, _reply, done) => {
    if (!told && request.headers['x-forwarded-for'] !== undefined) {
      told = true
      log.warn(
        { address: request.ip },
        'a request came with X-Forwarded-For, but TRUST_PROXY is empty: if this service is behind a proxy, limits count everyone behind it as one caller; put its address into TRUST_PROXY',
      )
    }
    done()
  })
}
