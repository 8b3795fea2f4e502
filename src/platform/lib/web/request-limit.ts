import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { localized } from '../localized-text.ts'
import { type AreaB, badRequestAnswer } from './bad-request.ts'
import { type Connection, Connections } from './connections.ts'
import { timesSent } from './raw-headers.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** How many connections are not read for a while, since a request of theirs was refused. */
    unreadConnections(): number
    /** For a response that only waits for events (a stream, a long poll): it no longer counts. */
    stopCounting(reply: FastifyReply): void
    /** Handles the requests of a further listener as far as the limits of this process let them pass. */
    limitRequests(server: Server, maxConnections: number, handle: RequestListener): Server
  }
}

/**
 * A connection whose request was refused is not read for this long: otherwise the process would only refuse callers
 * that ignore Retry-After. With many such connections it is longer, and never so long that somebody waits 3 s for a
 * second refusal.
 */
export const UNREAD_MS = 250
export const MOST_UNREAD_MS = 1_000
/** So many of them are read again in a millisecond. A refusal costs as much as a refresh. */
const READ_AGAIN_PER_MS = 4

export const unreadMs = (connections: number): number =>
  Math.min(MOST_UNREAD_MS, Math.max(UNREAD_MS, connections / READ_AGAIN_PER_MS))

/** Requests of one connection that may wait for their answers at once. Hardly any client sends a second one ahead. */
const MAX_UNANSWERED = 16
/** Requests after that which are not looked at while the answers that are due go out; with more it is closed at once. */
const MAX_IGNORED = 32

/** RFC 9112 §3.2: one Host, and none only before HTTP/1.1. Of several Node shows the first alone. */
function wrongHostOf({ headers, rawHeaders, httpVersion }: IncomingMessage) {
  if (headers.host === undefined) return httpVersion === '1.1' ? 'host-header-missing' : undefined
  return timesSent(rawHeaders, 'host') > 1 ? 'host-header-twice' : undefined
}

const HEALTH = /^\/(?:healthz|readyz)(?:\?|$)/

/** Answers a request that is refused, in the form of the area that was called. */
export type Refuse = (request: IncomingMessage, response: ServerResponse, why: string, closes: boolean) => void

/**
 * Limits the requests in progress in this process, and those of one connection. Further ones are refused as soon as their
 * headers have arrived and before they are routed, so that the others get their responses in time: a process that
 * accepts everything responds to nobody in time.
 */
export class RequestLimit {
  readonly #most: number
  readonly #areaB: AreaB
  readonly #servers: Connections[] = []
  readonly #uncounted = new WeakSet<ServerResponse>()
  #inProgress = 0
  /** Connections that are not read for a while. */
  #unread = 0

  constructor(most: number, areaB: AreaB) {
    this.#most = most
    this.#areaB = areaB
  }

  /** Set before the first request. */
  refuse: Refuse = (_request, response) => response.destroy()

  get inProgress(): number {
    return this.#inProgress
  }

  get unread(): number {
    return this.#unread
  }

  /** Handles the requests of this server as far as the limits let them pass. */
  guard(server: Server, maxConnections: number, handle: RequestListener): Server {
    // Node does not tell that the connection of a response is closed while it waits behind another one.
    const connections = new Connections(server, maxConnections, ({ inProgress }) => {
      this.#inProgress -= inProgress
    })
    this.#servers.push(connections)
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      const connection = connections.of(request.socket)
      if (!connection) return // it is closed
      if (connection.ending) {
        if (++connection.ignored > MAX_IGNORED) request.socket.destroy()
        return
      }
      connection.used = true
      const wrongHost = wrongHostOf(request)
      if (wrongHost) {
        connection.ending = true
        const { headers, body } = badRequestAnswer(localized(wrongHost), this.#areaB(request.url ?? ''))
        response.writeHead(400, headers).end(body)
        return
      }
      if (++connection.unanswered > MAX_UNANSWERED) {
        connection.ending = true
        this.refuse(request, response, 'too many requests that wait for an answer on one connection', true)
      } else if (this.#inProgress >= this.#most && !HEALTH.test(request.url ?? '')) {
        response.once('close', () => connections.answered(connection))
        this.#pauseAfter(request, response)
        this.refuse(request, response, 'too many requests in progress', false)
      } else {
        connection.inProgress++
        this.#inProgress++
        response.once('close', () => {
          connections.answered(connection)
          if (connection.open && !this.#uncounted.has(response)) this.#release(connection)
        })
        handle(request, response)
      }
    })
    return server
  }

  /** An answer that only waits for events counts no longer. */
  stopCounting(response: ServerResponse): void {
    const connection = this.#servers.map((connections) => connections.of(response.req.socket)).find(Boolean)
    if (!connection || this.#uncounted.has(response) || response.closed) return
    this.#uncounted.add(response)
    this.#release(connection)
  }

  #release(connection: Connection): void {
    connection.inProgress--
    this.#inProgress--
  }

  /** Reads no further request of this connection for a while, once this one has been answered and read to its end. */
  #pauseAfter(request: IncomingMessage, answer: ServerResponse): void {
    const socket: Socket = request.socket
    const readAgain = (): void => {
      this.#unread--
      socket.resume()
    }
    const pause = (): void => {
      socket.pause()
      setTimeout(readAgain, unreadMs(++this.#unread)).unref()
    }
    // The end of either makes Node read on.
    answer.once('finish', () => (request.complete ? pause() : request.once('end', pause)))
  }
}

/** Tells the app of its limit; called once, before the rooms. */
export function registerRequestLimit(app: FastifyInstance, limit: RequestLimit): void {
  app.decorate('stopCounting', ({ raw, request }: FastifyReply) => {
    request.staysOpen = true
    limit.stopCounting(raw)
  })
  app.decorate('unreadConnections', () => limit.unread)
  app.decorate('limitRequests', (server: Server, maxConnections: number, handle: RequestListener) =>
    limit.guard(server, maxConnections, handle),
  )
}
