import type { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { unavailable } from './rescode.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** For an answer that only waits for news from now on (a stream, a long poll): it is at work no longer. */
    workIsOver(reply: FastifyReply): void
  }
}

/**
 * A connection whose request was refused is not read for so long: otherwise the process would do nothing but refuse those
 * who come back at once, and not when Retry-After says.
 */
export const UNREAD_MS = 250

const HEALTH: readonly string[] = ['/healthz', '/readyz']

/**
 * So many requests are at work in this process at once. Beyond that each is refused as soon as its headers are there, so
 * that those which are answered are answered in time: a process that takes on everything answers nobody.
 */
export function boundRequests(app: FastifyInstance, most: number): void {
  let atWork = 0
  const over = new WeakSet<ServerResponse>()
  function closed(this: ServerResponse): void {
    if (!over.has(this)) atWork--
  }
  app.decorate('workIsOver', ({ raw }: FastifyReply) => {
    if (over.has(raw) || raw.closed) return
    over.add(raw)
    atWork--
  })
  app.addHook('onRequest', (request, reply, done) => {
    if (atWork >= most && !HEALTH.includes(request.routeOptions.url ?? '')) {
      pauseAfter(request.raw, reply.raw)
      return done(unavailable('too many requests at work'))
    }
    atWork++
    reply.raw.once('close', closed)
    done()
  })
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
