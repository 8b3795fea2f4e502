import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Log } from './log.ts'

/** What a room adds to the one log line of a request. Never a secret, a token, a code, a phone number or a query string. */
export interface LogNote {
  appKey?: string
  partnerId?: string
  /** rescode of area A, code of area B */
  code?: number
  /** Why, in words that do not go out on the wire. */
  detail?: string
}

declare module 'fastify' {
  interface FastifyRequest {
    logNote: LogNote | null
  }
}

export function noteForLog(request: FastifyRequest, note: LogNote): void {
  request.logNote = Object.assign(request.logNote ?? {}, note)
}

/**
 * One line a request, by route pattern: the URL itself may hold secrets. At level debug, or warn where the fault was
 * ours: writing a line costs about as much as answering.
 */
export function observeRequests(app: FastifyInstance, log: Log): void {
  app.decorateRequest('logNote', null)
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('X-Request-Id', request.id)
    done()
  })
  app.addHook('onResponse', (request, reply, done) => {
    const level = reply.statusCode >= 500 ? 'warn' : 'debug'
    if (log.isLevelEnabled(level)) {
      const { method, routeOptions, logNote } = request
      const route = routeOptions.url ?? '(no route)'
      const ms = Math.round(reply.elapsedTime * 10) / 10
      request.log[level]({ method, route, status: reply.statusCode, ms, ...logNote }, 'request')
    }
    done()
  })
}
