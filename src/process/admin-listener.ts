import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Config } from '../config/index.ts'
import { MAX_HEADER_BYTES, rawRequestError } from '../lib/web/bad-request.ts'
import { drainingResponse } from '../lib/web/drain.ts'
import { AREA_A_HEADERS, failureEnvelope, JSON_TYPE } from '../lib/web/envelope.ts'
import type { Readiness } from '../lib/web/health.ts'
import { unusablePort } from '../lib/web/listen.ts'
import { noSuchPath } from '../lib/web/rescode.ts'

/** The app, as far as a request is handed to it. */
interface Routing {
  routing(request: IncomingMessage, response: ServerResponse): void
}

/**
 * ADMIN_PORT: a second listener of the same app, for operators alone. It serves nothing else, and PORT does not
 * serve what is for operators (`isForOperators`, which the gate checks).
 */
export class AdminListener {
  readonly #sockets = new WeakSet<Socket>()
  #close = async (): Promise<void> => {}

  readonly isForOperators = ({ raw }: { readonly raw: IncomingMessage }): boolean => this.#sockets.has(raw.socket)

  /** Throws, naming ADMIN_PORT, if it cannot listen there. */
  async open(app: Routing, config: Config, port: number, readiness: Readiness): Promise<void> {
    const { ADMIN_HOST: host, MAX_CONNECTIONS, SHUTDOWN_GRACE_S } = config
    const server = createServer(
      {
        maxHeaderSize: MAX_HEADER_BYTES,
        connectionsCheckingInterval: 5_000,
        requestTimeout: 30_000,
        ServerResponse: drainingResponse(readiness),
      },
      (request, response) =>
        FOR_OPERATORS.test(request.url ?? '') ? app.routing(request, response) : notHere(response),
    )
    server.maxConnections = MAX_CONNECTIONS
    server.on('connection', (socket) => this.#sockets.add(socket))
    server.on('clientError', rawRequestError)
    const listening = once(server, 'listening')
    server.listen({ host, port })
    await listening.catch((error: NodeJS.ErrnoException) => {
      throw new Error(unusablePort('ADMIN_PORT', host, port, error))
    })
    this.#close = async () => {
      const closed = once(server, 'close')
      server.close()
      server.closeIdleConnections()
      const timer = setTimeout(() => server.closeAllConnections(), SHUTDOWN_GRACE_S * 1000)
      await closed
      clearTimeout(timer)
    }
  }

  /** Requests in progress get SHUTDOWN_GRACE_S. */
  close(): Promise<void> {
    return this.#close()
  }
}

/** The admin API, the console, metrics, and what pages and balancers need. */
const FOR_OPERATORS = /^\/(?:admin\/|console(?:[/?]|$)|metrics(?:\?|$)|assets\/|healthz(?:\?|$)|readyz(?:\?|$))/

function notHere(response: ServerResponse<IncomingMessage>): void {
  response.writeHead(404, { ...AREA_A_HEADERS, 'Content-Type': JSON_TYPE })
  response.end(JSON.stringify(failureEnvelope(noSuchPath())))
}
