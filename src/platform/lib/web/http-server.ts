import { createServer, IncomingMessage, type Server } from 'node:http'
import { MAX_HEADER_BYTES } from './bad-request.ts'
import { drainingResponse } from './drain.ts'
import type { Readiness } from './health.ts'

/**
 * Node goes on through all that has arrived in one piece, up to 2,000 requests, also once their connection is destroyed,
 * and makes an error with a stack for each: a quarter of a second of work for whoever sends 64 KiB. A request whose
 * connection is gone is called an upgrade, for which Node's parser stops.
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

/** A server without a handler, with the limits that each of our listeners has. */
export function httpServer(readiness: Readiness): Server {
  const server = createServer({
    maxHeaderSize: MAX_HEADER_BYTES,
    connectionsCheckingInterval: 5_000,
    requestTimeout: 30_000,
    keepAliveTimeout: 72_000, // Fastify's default: longer than balancers keep an idle connection
    requireHostHeader: false, // Node's own 400 has no envelope; RequestLimit refuses what lacks it
    IncomingMessage: StoppableRequest,
    ServerResponse: drainingResponse(readiness),
  })
  // Nor has its 417. A server may ignore an expectation that it does not know (RFC 9110 §10.1.1).
  server.on('checkExpectation', (request, response) => server.emit('request', request, response))
  return server
}
