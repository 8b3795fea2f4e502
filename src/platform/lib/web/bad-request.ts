import { randomUUID } from 'node:crypto'
import type { Socket } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type LocalizedText, localized } from '../localized-text.ts'
import { failureEnvelope, JSON_TYPE, NO_STORE_HEADERS, sendFailure } from './envelope.ts'
import { invalidRequest } from './rescode.ts'

/** Limit on request line and headers. A URL above the 8 KiB of A1 must be readable, to be refused with the right message. */
export const MAX_HEADER_BYTES = 32 * 1024

const LINGER_MS = 1_000
/** The request target, if it is among the bytes that could not be parsed. */
const TARGET = /^\s*\S+ +(\S+)/

/** The code with which area B refuses an unreadable request to this target; undefined if the target is not area B's. */
export type AreaB = (target: string) => 300 | 400 | undefined

/** For a path with broken percent-encoding. */
export const unreadableRequest =
  (native: boolean, areaB: AreaB) =>
  (_error: unknown, request: FastifyRequest, reply: FastifyReply): void => {
    reply.header('X-Request-Id', request.id) // no hook has run
    const what = localized('path-undecodable')
    if (areaB(request.url) !== undefined) {
      reply
        .code(404)
        .headers({ ...NO_STORE_HEADERS, 'Content-Type': JSON_TYPE })
        .send(areaBFailure(404, what))
    } else sendFailure(invalidRequest(what, { status: 404 }), request, reply, native)
  }

const areaBFailure = (code: 300 | 400 | 404, what: LocalizedText): string =>
  JSON.stringify({ code, describe: String(what), partnerId: '' })

/** An answer in the envelope of the request's area, with `code` for area B, that closes the connection. */
export function badRequestAnswer(what: LocalizedText, code: ReturnType<AreaB>) {
  const body = code === undefined ? JSON.stringify(failureEnvelope(invalidRequest(what))) : areaBFailure(code, what)
  const headers = {
    ...NO_STORE_HEADERS,
    'Content-Type': JSON_TYPE,
    'Content-Length': Buffer.byteLength(body),
    'X-Request-Id': randomUUID(),
    Connection: 'close',
  }
  return { headers, body }
}

/** Closes a connection after what has been written, with time to read it: unread bytes would reset it. */
export function closeSoon(socket: Socket): void {
  socket.end()
  setTimeout(() => socket.destroy(), LINGER_MS).unref()
}

/**
 * For what Node cannot parse as HTTP (headers beyond MAX_HEADER_BYTES, a broken request line). `answersFirst`: whether
 * answers to earlier requests still go out on this connection, which is closed after them.
 */
export const rawRequestError =
  (areaB: AreaB, answersFirst: (socket: Socket) => boolean) =>
  (error: NodeJS.ErrnoException & { rawPacket?: unknown }, socket: Socket): void => {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy()
      return
    }
    if (answersFirst(socket)) return
    const tooLong = error.code === 'HPE_HEADER_OVERFLOW'
    const what = localized(tooLong ? 'head-too-long' : 'not-http')
    const began = Buffer.isBuffer(error.rawPacket) ? error.rawPacket.toString('latin1', 0, 256) : ''
    const { headers, body } = badRequestAnswer(what, areaB(TARGET.exec(began)?.[1] ?? ''))
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
    const status = tooLong ? '431 Request Header Fields Too Large' : '400 Bad Request'
    socket.write(`HTTP/1.1 ${status}\r\n${lines.join('\r\n')}\r\n\r\n${body}`)
    // The server's own timeouts do not cover requests that its parser has given up on.
    closeSoon(socket)
  }
