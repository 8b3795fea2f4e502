import type { FastifyInstance } from 'fastify'

/** A year, as lists of such hosts want it. Other hosts of the domain are not ours to decide about. */
const HSTS = 'max-age=31536000'

/** Has browsers that reach the service over https come over https only from then on (RFC 6797), with each answer. */
export function keepToHttps(app: FastifyInstance, publicUrl: string): void {
  if (!publicUrl.startsWith('https:')) return
  app.addHook('onRequest', (_request, reply, done) => {
    reply.header('Strict-Transport-Security', HSTS)
    done()
  })
}
