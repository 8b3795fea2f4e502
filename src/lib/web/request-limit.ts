import type { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { unavailable } from './rescode.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** For a response that only waits for events (a stream, a long poll): it no longer counts. */
    stopCounting(reply: FastifyReply): void
  }
}

/**
 * A connection whose request was refused is not read for this long: otherwise the process would only refuse callers
 * that ignore Retry-After.
 */
export const UNREAD_MS = 250

const HEALTH: readonly string[] = ['/healthz', '/readyz']

/**
 * Limits the requests in progress in this process. Further ones are refused as soon as their headers have arrived, so
 * that the others get their responses in time: a process that accepts everything responds to nobody in time. Returns
 * how many there are.
 */
export function boundRequests(app: FastifyInstance, most: number): () => number {
  let inProgress = 0
  const over = new WeakSet<ServerResponse>()
  function closed(this: ServerResponse): void {
    if (!over.has(this)) inProgress--
  }
  app.decorate('stopCounting', ({ raw, request }: FastifyReply) => {
    request.staysOpen = true
    if (over.has(raw) || raw.closed) return
    over.add(raw)
    inProgress--
  })
  app.addHook('onRequest', (request, reply, done) => {
    if (inProgress >= most && !HEALTH.includes(request.routeOptions.url ?? '')) {
      pauseAfter(request.raw, reply.raw)
      return done(unavailable('too many requests in progress'))
    }
    inProgress++
    reply.raw.once('close', closed)
    done()
  })
  return () => inProgress
}

/** Reads no further request of this connection for a while, once this one has been answered and read to its end. */
function pauseAfter(request: IncomingMessage, answer: ServerResponse): void {
  const { socket } = request
  if (!(socket instanceof Socket)) return // injected, without a network
  const pause = (): void => {
    socket.pause()
    setTimeout(() => socket.resume(), UNREAD_MS).unref()
  }
  // The end of either makes Node read on.
  answer.once('finish', () => (request.complete ? pause() : request.once('end', pause)))
}
