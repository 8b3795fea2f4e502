import { createServer, IncomingMessage, type Server } from 'node:http'
import { MAX_HEADER_BYTES } from './bad-request.ts'
import { drainingResponse } from './drain.ts'
import type { Readiness } from './health.ts'

/**
 * Node parses all requests that arrive in one chunk, up to 2,000, even after their connection is destroyed, and creates
 * an error with a stack for each: 64 KiB cause a quarter of a second of work. Declaring a request on a destroyed
 * connection an upgrade makes Node's parser stop.
 */
class StoppableRequest extends IncomingMessage {
  declare private isUpgrade: boolean

  get upgrade(): boolean {
    return this.isUpgrade
  }

  set upgrade(asked: boolean) {
    this.isUpgrade = asked || this.socket?.destroyed === true
  }
}

/** A server without a handler, with the limits that all our listeners have. */
export function httpServer(readiness: Readiness): Server {
  const server = createServer({
    maxHeaderSize: MAX_HEADER_BYTES,
    connectionsCheckingInterval: 5_000,
    requestTimeout: 30_000,
    keepAliveTimeout: 72_000, // Fastify's default: longer than balancers keep an idle connection
    requireHostHeader: false, // Node's own 400 has no envelope; RequestLimit refuses requests without Host instead
    IncomingMessage: StoppableRequest,
    ServerResponse: drainingResponse(readiness),
  })
  // Node's own 417 has none either. A server may ignore an unknown expectation (RFC 9110 §10.1.1).
  server.on('checkExpectation', (request, response) => server.emit('request', request, response))
  return server
}
