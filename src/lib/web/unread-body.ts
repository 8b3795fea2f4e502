import type { FastifyInstance, FastifyRequest } from 'fastify'

/** Parameters are in the query string (DECISIONS "Endpoints of area A"): whatever body comes along is let through and dropped. */
export function acceptAnyBodyUnread(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, payload, done) => {
    payload.resume()
    done(null)
  })
}

/** Whether the caller sent one; a message may then say where parameters go. */
export const hasBody = ({ headers }: FastifyRequest): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
