import type { FastifyInstance } from 'fastify'
import type { Log } from '../log.ts'

/** Where TRUST_PROXY is empty: says once that requests come through a proxy, whose one address is then everybody's. */
export function tellOfUntrustedProxy(app: FastifyInstance, log: Log): void {
  let told = false
  app.addHook('onRequest', (request, _reply, done) => {
    if (!told && request.headers['x-forwarded-for'] !== undefined) {
      told = true
      log.warn(
        { address: request.ip },
        'a request came with X-Forwarded-For, but TRUST_PROXY is empty: if a proxy stands before this service, limits count everybody behind it as one; name its address in TRUST_PROXY',
      )
    }
    done()
  })
}
