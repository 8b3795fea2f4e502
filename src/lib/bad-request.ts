import { randomUUID } from 'node:crypto'
import type { Socket } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { AREA_A_HEADERS, envelopeErrorHandler, failureEnvelope, JSON_TYPE } from './envelope.ts'
import { invalidRequest } from './rescode.ts'

const LINGER_MS = 1_000

/** For what fastify cannot route: a path with broken percent-encoding. */
export const unreadableRequest =
  (native: boolean) =>
  (_error: unknown, request: FastifyRequest, reply: FastifyReply): void => {
    reply.header('X-Request-Id', request.id) // no hook has run
    envelopeErrorHandler(native)(invalidRequest('the path cannot be decoded', { status: 404 }), request, reply)
  }

/** For what Node cannot parse as HTTP (headers beyond 128 KiB, a broken request line): the same envelope, then the end. */
export function rawRequestError(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const what =
    error.code === 'HPE_HEADER_OVERFLOW' ? 'the request line and headers are longer than 128 KiB' : 'not HTTP'
  const body = JSON.stringify(failureEnvelope(invalidRequest(what)))
  const headers = {
    ...AREA_A_HEADERS,
    'Content-Type': JSON_TYPE,
    'Content-Length': Buffer.byteLength(body),
    'X-Request-Id': randomUUID(),
    Connection: 'close',
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  socket.end(`HTTP/1.1 400 Bad Request\r\n${lines.join('\r\n')}\r\n\r\n${body}`)
  // Time to read the answer; the server's own timeouts do not cover what its parser has given up.
  setTimeout(() => socket.destroy(), LINGER_MS).unref()
}
