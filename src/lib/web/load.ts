import type { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { Stream } from 'node:stream'
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

/**
 * Sends the replies of one event-loop tick together, after all requests of the tick have been read. A packet that wakes a
 * sleeping client or proxy costs several times one to a client that is awake; sent one by one, nearly every reply would.
 *
 * Only for rooms whose hooks refuse by throwing: until the end of the tick `reply.sent` is false, so after a hook that has
 * replied by itself the handler would still run.
 */
export function flushRepliesPerTick(app: FastifyInstance): void {
  let endOfTick: Promise<void> | undefined
  const begin = (): Promise<void> =>
    new Promise((resolve) => {
      setImmediate(() => {
        endOfTick = undefined
        resolve()
      })
    })
  app.addHook('onSend', (_request, _reply, payload) => {
    // A stream may fail at any moment, and Fastify listens to it only when it is sent.
    if (payload instanceof Stream) return Promise.resolve()
    endOfTick ??= begin()
    return endOfTick
  })
}
