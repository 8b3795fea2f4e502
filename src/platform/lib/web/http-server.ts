import { createServer, type Server } from 'node:http'
import { MAX_HEADER_BYTES } from './bad-request.ts'
import { drainingResponse } from './drain.ts'
import type { Readiness } from './health.ts'

/** A server without a handler, with the limits that each of our listeners has. */
export function httpServer(readiness: Readiness): Server {
  const server = createServer({
    maxHeaderSize: MAX_HEADER_BYTES,
    connectionsCheckingInterval: 5_000,
    requestTimeout: 30_000,
    keepAliveTimeout: 72_000, // Fastify's default: longer than balancers keep an idle connection
    requireHostHeader: false, // Node's own 400 has no envelope; RequestLimit refuses what lacks it
    ServerResponse: drainingResponse(readiness),
  })
  // Nor has its 417. A server may ignore an expectation that it does not know (RFC 9110 §10.1.1).
  server.on('checkExpectation', (request, response) => server.emit('request', request, response))
  return server
}
