import { createServer, type Server } from 'node:http'
import { MAX_HEADER_BYTES } from './bad-request.ts'
import { drainingResponse } from './drain.ts'
import type { Readiness } from './health.ts'

/** A server without a handler, with the limits that each of our listeners has. */
export const httpServer = (readiness: Readiness): Server =>
  createServer({
    maxHeaderSize: MAX_HEADER_BYTES,
    connectionsCheckingInterval: 5_000,
    requestTimeout: 30_000,
    keepAliveTimeout: 72_000, // Fastify's default: longer than balancers keep an idle connection
    ServerResponse: drainingResponse(readiness),
  })
