import type { FastifyInstance } from 'fastify'
import type { Log } from '../log.ts'

/**
 * Where TRUST_PROXY is empty: logs once that requests come through a proxy, whose address then counts for every caller.
 */
export function tellOfUntrustedProxy(app: FastifyInstance, log: Log): void {
  let told = false
  app.addHook('onRequest', (request, _reply, done) => {
    if (!told && request.headers['x-forwarded-for'] !== undefined) {
      told = true
      log.warn(
        { address: request.ip },
        'a request came with X-Forwarded-For, but TRUST_PROXY is empty: if this service is behind a proxy, limits count everyone behind it as one caller; put its address into TRUST_PROXY',
      )
    }
    done()
  })
}
