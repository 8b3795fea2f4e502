import { once } from 'node:events'
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { rawRequestError } from '../platform/lib/web/bad-request.ts'
import { limitClosing } from '../platform/lib/web/drain.ts'
import { failureEnvelope, JSON_TYPE, NO_STORE_HEADERS } from '../platform/lib/web/envelope.ts'
import type { Readiness } from '../platform/lib/web/health.ts'
import { httpServer } from '../platform/lib/web/http-server.ts'
import { BACKLOG, unusablePort } from '../platform/lib/web/listen.ts'
import { noSuchPath } from '../platform/lib/web/rescode.ts'

interface Routing {
  routing(request: IncomingMessage, response: ServerResponse): void
  limitRequests(server: Server, maxConnections: number, handle: RequestListener): Server
  answersFirst(socket: Socket): boolean
}

export interface Where {
  readonly setting: string
  readonly host: string
  readonly port: number
  readonly paths: RegExp
  readonly maxConnections: number
  /** Seconds that requests in progress get on close. */
  readonly graceS: number
}

/** The admin API, the console and its assets, metrics, and health for load balancers. */
export const OPERATORS_PATHS =
  /^\/(?:admin\/|console(?:[/?]|$)|metrics(?:\?|$)|assets\/|healthz(?:\?|$)|readyz(?:\?|$))/
export const HEALTH_PATHS = /^\/(?:healthz|readyz)(?:\?|$)/

const noneOfAreaB = () => undefined

/** Another listener of the same app, which serves a part of it: ADMIN_PORT, HEALTH_PORT. */
export function furtherListener({ setting, host, port, paths, maxConnections, graceS }: Where) {
  const sockets = new WeakSet<Socket>()
  let close = async (): Promise<void> => {}
  return {
    /** Whether a request came in on this listener. */
    received: ({ raw }: { readonly raw: IncomingMessage }): boolean => sockets.has(raw.socket),
    /** Throws, naming the setting, if it cannot listen. */
    open: async (app: Routing, readiness: Readiness): Promise<void> => {
      const opened = app.limitRequests(httpServer(readiness), maxConnections, (request, response) =>
        paths.test(request.url ?? '') ? app.routing(request, response) : notHere(response),
      )
      const unreadable = rawRequestError(noneOfAreaB, (socket) => app.answersFirst(socket))
      opened.on('connection', (socket) => sockets.add(socket)).on('clientError', unreadable)
      const beginClosing = limitClosing(opened, graceS)
      const listening = once(opened, 'listening')
      opened.listen({ host, port, backlog: BACKLOG })
      await listening.catch((error: NodeJS.ErrnoException) => {
        throw new Error(unusablePort(setting, host, port, error))
      })
      close = async () => {
        const closed = once(opened, 'close')
        opened.close()
        beginClosing()
        await closed
      }
    },
    close: () => close(),
  }
}

function notHere(response: ServerResponse<IncomingMessage>): void {
  response.writeHead(404, { ...NO_STORE_HEADERS, 'Content-Type': JSON_TYPE })
  response.end(JSON.stringify(failureEnvelope(noSuchPath())))
}
