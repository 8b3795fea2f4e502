import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { localized } from '../localized-text.ts'
import { type AreaB, badRequestAnswer, closeSoon } from './bad-request.ts'
import { type Connection, Connections } from './connections.ts'
import { valuesSent } from './raw-headers.ts'
import { hasBody } from './read-body.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** The number of connections that are currently not read, because a request of theirs was refused. */
    unreadConnections(): number
    /** Stops counting a response that only waits for events (a stream, a long poll). */
    stopCounting(reply: FastifyReply): void
    limitRequests(server: Server, maxConnections: number, handle: RequestListener): Server
    answersFirst(socket: Socket): boolean
  }
}

/**
 * How long a connection is not read after a refusal: otherwise the process would be busy refusing callers that ignore
 * Retry-After. Longer with many such connections, but never so long that a caller waits 3 s for a second refusal.
 */
export const UNREAD_MS = 250
export const MAX_UNREAD_MS = 1_000
/** How many of them are read again per millisecond. A refusal costs as much as a refresh. */
const READ_AGAIN_PER_MS = 4

export const unreadMs = (connections: number): number =>
  Math.min(MAX_UNREAD_MS, Math.max(UNREAD_MS, connections / READ_AGAIN_PER_MS))

/** Requests of one connection without an answer yet. Hardly any client sends even a second one ahead. */
const MAX_UNANSWERED = 16
/** Further requests that are ignored while the outstanding answers go out; with more, the connection is closed at once. */
const MAX_IGNORED = 32

/** RFC 9112 §3.2: exactly one Host header, which only HTTP/1.0 may lack. Node keeps only the first of several. */
function wrongHostOf({ headers, rawHeaders, httpVersion }: IncomingMessage) {
  if (headers.host === undefined) return httpVersion === '1.1' ? 'host-header-missing' : undefined
  return valuesSent(rawHeaders, 'host').length > 1 ? 'host-header-twice' : undefined
}

/** At the limit, a request whose body takes longer than this to arrive has to make room for another. */
export const BODY_HAS_MS = 3_000

const HEALTH = /^\/(?:healthz|readyz)(?:\?|$)/

export type Refuse = (request: IncomingMessage, response: ServerResponse, why: string, closes: boolean) => void

/**
 * Limits the requests in progress in this process and on one connection. More are refused as soon as their headers have
 * arrived, before routing: a process that accepts everything answers nobody in time.
 */
export class RequestLimit {
  readonly #max: number
  readonly #areaB: AreaB
  readonly #servers: Connections[] = []
  readonly #uncounted = new WeakSet<ServerResponse>()
  /** The latest request with a body of each connection, oldest first. Earlier ones of a connection are complete. */
  readonly #withBody = new Map<Connection, { readonly request: IncomingMessage; readonly since: number }>()
  #inProgress = 0
  #unread = 0

  constructor(max: number, areaB: AreaB) {
    this.#max = max
    this.#areaB = areaB
  }

  refuse: Refuse = (_request, response) => response.destroy()
  /** Told of each connection that is closed because its client does not read its answers. */
  onUnread: (socket: Socket) => void = () => {}

  get inProgress(): number {
    return this.#inProgress
  }

  get unread(): number {
    return this.#unread
  }

  /** Passes the requests of this server to `handle` within the limits. */
  guard(server: Server, maxConnections: number, handle: RequestListener, readWithinMs?: number): Server {
    // A response that waits behind another one gets no 'close' event from Node when its connection closes.
    const onClose = (connection: Connection) => {
      this.#inProgress -= connection.inProgress
      this.#withBody.delete(connection)
    }
    const onUnread = (socket: Socket) => this.onUnread(socket)
    const connections = new Connections(server, maxConnections, onClose, onUnread, readWithinMs)
    this.#servers.push(connections)
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      const connection = connections.of(request.socket)
      if (!connection) return // already closed
      if (connection.ending) {
        if (++connection.ignored > MAX_IGNORED) request.socket.destroy()
        return
      }
      connection.used = true
      const answered = (): void => {
        connections.answered(connection)
        if (connection.ending && connection.unanswered === 0) closeSoon(request.socket)
      }
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
      } else if (!this.#hasRoom() && !HEALTH.test(request.url ?? '')) {
        response.once('close', answered)
        this.#pauseAfter(request, response)
        this.refuse(request, response, 'too many requests in progress', false)
      } else {
        connection.inProgress++
        this.#inProgress++
        if (hasBody(request)) {
          this.#withBody.delete(connection) // so that it becomes the last
          this.#withBody.set(connection, { request, since: performance.now() })
        }
        response.once('close', () => {
          if (this.#withBody.get(connection)?.request === request) this.#withBody.delete(connection)
          answered()
          if (connection.open && !this.#uncounted.has(response)) this.#release(connection)
        })
        handle(request, response)
      }
    })
    return server
  }

  /**
   * After bytes that are not HTTP, as of a client whose Content-Length is too small: whether whole requests before them
   * are still unanswered. They may have been carried out, so their answers go out, and then the connection is closed.
   */
  answersFirst(socket: Socket): boolean {
    const connection = this.#of(socket)
    if (!connection || connection.unanswered === 0) return false
    if (this.#withBody.get(connection)?.request.complete === false) return false
    connection.ending = true
    return true
  }

  stopCounting(response: ServerResponse): void {
    const connection = this.#of(response.req.socket)
    if (!connection || this.#uncounted.has(response) || response.closed) return
    this.#uncounted.add(response)
    this.#release(connection)
  }

  /**
   * At the limit, closes the connection of the request whose body has been arriving for longest, if that is long:
   * anybody could keep all others out by sending bodies a byte at a time.
   */
  #hasRoom(): boolean {
    if (this.#inProgress < this.#max) return true
    for (const [connection, { request, since }] of this.#withBody) {
      if (!request.complete && performance.now() - since < BODY_HAS_MS) return false
      this.#withBody.delete(connection)
      if (request.complete) continue
      request.socket.destroy()
      return true
    }
    return false
  }

  #of(socket: Socket): Connection | undefined {
    return this.#servers.map((connections) => connections.of(socket)).find(Boolean)
  }

  #release(connection: Connection): void {
    connection.inProgress--
    this.#inProgress--
  }

  /** Stops reading from this connection for a while, once this request has been answered and fully read. */
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
    // Node resumes reading at the end of request and response, so pause after both.
    answer.once('finish', () => (request.complete ? pause() : request.once('end', pause)))
  }
}

/** Gives the app access to its limit; call once, before the rooms. */
export function registerRequestLimit(app: FastifyInstance, limit: RequestLimit): void {
  app.decorate('stopCounting', ({ raw, request }: FastifyReply) => {
    request.staysOpen = true
    limit.stopCounting(raw)
  })
  app.decorate('unreadConnections', () => limit.unread)
  app.decorate('answersFirst', (socket: Socket) => limit.answersFirst(socket))
  app.decorate('limitRequests', (server: Server, maxConnections: number, handle: RequestListener) =>
    limit.guard(server, maxConnections, handle),
  )
}
