import { type IncomingMessage, ServerResponse } from 'node:http'
import { type Server, type Socket, Server as TcpServer } from 'node:net'
import { setTimeout as sleep, setImmediate as tick } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import type { Readiness } from './health.ts'
import { MOST_UNREAD_MS } from './request-limit.ts'

/** How an HTTP server stops without cutting off a request that has been sent to it. */

/** Answers that are written while the process is draining end their connection: the next request goes elsewhere. */
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

/**
 * Waits for a tick in which nothing arrived: closing the listener would reset accepted connections and unread bytes.
 */
async function quietTick(): Promise<void> {
  let before = performance.now()
  for (let ticks = 0; ticks < MAX_TICKS; ticks++) {
    await tick()
    const now = performance.now()
    if (now - before < QUIET_MS) return
    before = now
  }
}

/** New connections are refused from here on; open ones are served as before. An http.Server's own close would end those too. */
async function stopListening(server: Server): Promise<void> {
  await quietTick()
  TcpServer.prototype.close.call(server)
}

const openConnections = (server: Server): Promise<number> =>
  new Promise((resolve) => server.getConnections((error, count) => resolve(error ? 0 : count)))

/** How long open connections may bring requests: balancers pool them; what was refused for load is read late. */
const LAST_REQUESTS_MS = MOST_UNREAD_MS + 50
/** Without a delay, for somebody at a terminal: only requests on their way are waited for, and such as are not read yet. */
const LAST_REQUESTS_AT_ONCE_MS = 300
const LOOK_EVERY_MS = 20

/**
 * Makes a server that still answers ready to be closed. For `delaySeconds` everything is served, so that balancers notice
 * that this process is not ready, and answers end their connections. Then it stops listening and, for a moment, still serves requests of
 * open connections, each of which is told to close.
 *
 * In the last part of the delay answers leave connections open again, and until the listener is closed: who is told to close
 * opens another one at once, and the system resets those that it has accepted for us and we have not. Only then is each
 * told, with its next answer. Where several processes listen on the port, none tells its own before `othersClosed`: they
 * would come to a process that is about to close the last listener. `unread` counts connections that are not read for a while.
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
  while (mayBringMore() && (await openConnections(server)) > 0) await sleep(LOOK_EVERY_MS)
  await quietTick()
}

const IDLE_EVERY_MS = 50

/**
 * Bounds the closing of an app: requests in progress get `graceSeconds`, connections without a request are closed at
 * once. Browsers open some of those ahead, and Node does not count them among the idle ones that it closes by itself.
 * Those that become idle later, when their last answer has gone out, are closed then.
 */
export function closeInTime(app: FastifyInstance, graceSeconds: number): void {
  const unused = new Set<Socket>()
  app.server.on('connection', (socket: Socket) => {
    unused.add(socket)
    socket.once('close', () => unused.delete(socket))
  })
  app.server.on('request', ({ socket }) => unused.delete(socket))
  app.addHook('preClose', async () => {
    for (const socket of unused) socket.destroy()
    const sweeping = setInterval(() => app.server.closeIdleConnections(), IDLE_EVERY_MS).unref()
    app.server.once('close', () => clearInterval(sweeping))
    setTimeout(() => app.server.closeAllConnections(), graceSeconds * 1000).unref()
  })
}
