import type { FastifyInstance } from 'fastify'

/** A year, as preload lists require. Other hosts of the domain are not affected. */
const HSTS = 'max-age=31536000'

/** Tells browsers that reach the service over https to use only https from then on (RFC 6797), with each response. */
export function enforceHttps(app: FastifyInstance, publicUrl: string): void {
  if (!publicUrl.startsWith('https:')) return
  app.addHook('onRequest', (_request, reply, done) => {
    reply.header('Strict-Transport-Security', HSTS)
    done()
  })
}
