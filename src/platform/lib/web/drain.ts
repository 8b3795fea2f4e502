import { type Server as HttpServer, type IncomingMessage, ServerResponse } from 'node:http'
import { type Server, type Socket, Server as TcpServer } from 'node:net'
import { setTimeout as sleep, setImmediate as tick } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import type { Readiness } from './health.ts'
import { MAX_UNREAD_MS } from './request-limit.ts'

/** Answers written while the process drains close their connection, so that the next request goes elsewhere. */
export function drainingResponse(readiness: Readiness): typeof ServerResponse {
  return class<Request extends IncomingMessage = IncomingMessage> extends ServerResponse<Request> {
    override writeHead(...given: unknown[]): this {
      if (readiness.draining && !readiness.keepsConnections && !this.headersSent) this.setHeader('Connection', 'close')
      return super.writeHead(...(given as [number]))
    }
  }
}

const QUIET_MS = 0.1
const MAX_TICKS = 200

/** Waits for a tick in which nothing arrives: closing earlier would reset connections and lose unread bytes. */
async function quietTick(): Promise<void> {
  let before = performance.now()
  for (let ticks = 0; ticks < MAX_TICKS; ticks++) {
    await tick()
    const now = performance.now()
    if (now - before < QUIET_MS) return
    before = now
  }
}

/** Refuses new connections but keeps serving open ones, which http.Server's own close would end too. */
async function stopListening(server: Server): Promise<void> {
  await quietTick()
  TcpServer.prototype.close.call(server)
}

const openConnections = (server: Server): Promise<number> =>
  new Promise((resolve) => server.getConnections((error, count) => resolve(error ? 0 : count)))

/** How long open connections may bring requests: load balancers pool them, and connections refused for load are read late. */
const LAST_REQUESTS_MS = MAX_UNREAD_MS + 50
/** Without a delay, for somebody at a terminal: only requests under way, or not read yet, are waited for. */
const LAST_REQUESTS_AT_ONCE_MS = 300
const CHECK_EVERY_MS = 20

/**
 * Prepares a serving server to be closed. For `delaySeconds` everything is served, so that load balancers notice that
 * this process is not ready, and answers close their connections. Then it stops listening and, for a moment, still
 * serves requests on open connections, closing each with its answer.
 *
 * In the last part of the delay, until the listener is closed, answers leave connections open again: a client whose
 * connection closes opens another at once, and the kernel resets those in our backlog. Where several processes listen
 * on the port, none closes its connections before `othersClosed`, or their clients would come to a process that is
 * about to close the last listener. `unread` counts connections that are not being read for a while.
 */
export async function drain(
  server: Server,
  readiness: Readiness,
  delaySeconds: number,
  unread: () => number,
  othersClosed = async () => {},
): Promise<void> {
  const keepMs = Math.min(LAST_REQUESTS_MS, delaySeconds * 500)
  readiness.keepsConnections = delaySeconds === 0
  readiness.draining = true
  await sleep(delaySeconds * 1000 - keepMs)
  readiness.keepsConnections = true
  await sleep(keepMs)
  await stopListening(server)
  await othersClosed()
  readiness.keepsConnections = false
  const closed = performance.now()
  const mayBringMore = (): boolean => {
    const waited = performance.now() - closed
    return waited < (delaySeconds > 0 || unread() > 0 ? LAST_REQUESTS_MS : LAST_REQUESTS_AT_ONCE_MS)
  }
  while (mayBringMore() && (await openConnections(server)) > 0) await sleep(CHECK_EVERY_MS)
  await quietTick()
}

const IDLE_EVERY_MS = 50

/**
 * Limits how long a server takes to close. The returned function is called when closing begins: connections without a
 * request are closed at once, requests in progress get `graceSeconds`. Browsers open connections in advance, which Node
 * does not count among the idle ones that it closes by itself. Connections that become idle later are closed then.
 */
export function limitClosing(server: HttpServer, graceSeconds: number): () => void {
  const unused = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    unused.add(socket)
    socket.once('close', () => unused.delete(socket))
  })
  server.on('request', ({ socket }) => unused.delete(socket))
  let hasListened = server.listening // at its end it may no longer listen and still have connections
  server.once('listening', () => {
    hasListened = true
  })
  return () => {
    for (const socket of unused) socket.destroy()
    if (!hasListened) return // it has no connections, and will not emit `close`
    const sweeping = setInterval(() => server.closeIdleConnections(), IDLE_EVERY_MS).unref()
    const cuttingOff = setTimeout(() => server.closeAllConnections(), graceSeconds * 1000).unref()
    server.once('close', () => {
      clearInterval(sweeping)
      clearTimeout(cuttingOff)
    })
  }
}

export function closeInTime(app: FastifyInstance, graceSeconds: number): void {
  const beginClosing = limitClosing(app.server, graceSeconds)
  app.addHook('preClose', async () => beginClosing())
}
