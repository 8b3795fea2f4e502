import type { FastifyInstance } from 'fastify'

/** A year, as preload lists require. Other hosts of the domain are not affected. */
export const HSTS_HEADER = { 'Strict-Transport-Security': 'max-age=31536000' } as const

/** Adds HSTS (RFC 6797) to every response if the service is reached over https. */
export function enforceHttps(app: FastifyInstance, publicUrl: string): void {
  if (!publicUrl.startsWith('https:')) return
  app.addHook('onRequest', (_request, reply, done) => {
    reply.headers(HSTS_HEADER)
    done()
  })
}
