import type { FastifyInstance, onRequestAsyncHookHandler, preValidationAsyncHookHandler } from 'fastify'
import { z } from 'zod'
import type { Config } from '../config.ts'
import { envelopeErrorHandler } from './envelope.ts'
import { readJsonBodies } from './exact-body.ts'
import { parseInput } from './input.ts'
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

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route reads its query itself, and refuses there what it does not know. */
    readsQuery?: boolean
  }
}

const NO_QUERY = z.strictObject({})

/** A filter that a list does not have would be taken for one that has matched: `?status=pending` and all are shown. */
const refuseStrayQuery: preValidationAsyncHookHandler = async ({ routeOptions, query }) => {
  if (!routeOptions.config.readsQuery) parseInput(NO_QUERY, query)
}

/**
 * Makes all routes of this plugin answer the operator only, failures with their native HTTP status. An empty
 * body is none; what stands in the query without belonging there is refused.
 */
export function forOperatorsOnly(app: FastifyInstance, config: Config): void {
  app.addHook('onRequest', requireAdmin(config))
  app.setErrorHandler(envelopeErrorHandler(true))
  readJsonBodies(app)
  app.addHook('preValidation', refuseStrayQuery)
}
