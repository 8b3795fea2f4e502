import type { FastifyInstance, onRequestAsyncHookHandler } from 'fastify'
import type { Config } from '../config.ts'
import { envelopeErrorHandler } from './envelope.ts'
import { equalSecrets } from './keys.ts'
import { RescodeError } from './rescode.ts'

const BEARER = /^Bearer +(\S+) *$/i

/** Lets only the bearer of ADMIN_TOKEN in (20015, 401); without ADMIN_TOKEN, nobody. Runs before the body is read. */
function requireAdmin({ ADMIN_TOKEN }: Pick<Config, 'ADMIN_TOKEN'>): onRequestAsyncHookHandler {
  return async (request) => {
    const given = BEARER.exec(request.headers.authorization ?? '')?.[1]
    if (ADMIN_TOKEN !== undefined && given !== undefined && equalSecrets(given, ADMIN_TOKEN)) return
    throw new RescodeError(20015, {
      headers: { 'WWW-Authenticate': 'Bearer' },
      detail: ADMIN_TOKEN === undefined ? 'ADMIN_TOKEN is not set' : 'missing or wrong admin token',
    })
  }
}

/** Makes all routes of this plugin answer the operator only, failures with their native HTTP status. */
export function forOperatorsOnly(app: FastifyInstance, config: Config): void {
  app.addHook('onRequest', requireAdmin(config))
  app.setErrorHandler(envelopeErrorHandler(true))
}
