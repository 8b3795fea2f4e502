import type {
  FastifyInstance,
  FastifyPluginAsync,
  onRequestAsyncHookHandler,
  preValidationAsyncHookHandler,
} from 'fastify'
import { z } from 'zod'
import { equalSecrets } from '../crypto/keys.ts'
import { parseInput } from '../json/input.ts'
import { envelopeErrorHandler } from './envelope.ts'
import { readJsonBodies } from './exact-body.ts'
import { RescodeError } from './rescode.ts'

const BEARER = /^Bearer +(\S+) *$/i

interface AdminSettings {
  readonly ADMIN_TOKEN?: string | undefined
}

/** Whether an Authorization header is that of an operator. */
export const isOperator = ({ ADMIN_TOKEN }: AdminSettings, authorization: string | undefined): boolean => {
  const given = BEARER.exec(authorization ?? '')?.[1]
  return ADMIN_TOKEN !== undefined && given !== undefined && equalSecrets(given, ADMIN_TOKEN)
}

/**
 * Admits only the bearer of ADMIN_TOKEN (20015, 401); without ADMIN_TOKEN every request is refused. Runs before the
 * body is read.
 */
function requireAdmin(config: AdminSettings): onRequestAsyncHookHandler {
  return async (request) => {
    if (isOperator(config, request.headers.authorization)) return
    throw new RescodeError(20015, {
      headers: { 'WWW-Authenticate': 'Bearer' },
      detail: config.ADMIN_TOKEN === undefined ? 'ADMIN_TOKEN is not set' : 'missing or wrong admin token',
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

/** An unknown filter that is ignored would look as if it had matched: `?status=pending` would show all. */
const refuseStrayQuery: preValidationAsyncHookHandler = async ({ routeOptions, query }) => {
  if (!routeOptions.config.readsQuery) parseInput(NO_QUERY, query)
}

/**
 * Makes all routes of this plugin answer the operator only, failures with their native HTTP status. An empty body
 * counts as none; unknown query parameters are refused.
 */
export function forOperatorsOnly(app: FastifyInstance, config: AdminSettings): void {
  app.addHook('onRequest', requireAdmin(config))
  app.setErrorHandler(envelopeErrorHandler(true))
  readJsonBodies(app)
  app.addHook('preValidation', refuseStrayQuery)
}

/** The plugin that has these routes below /admin/v1, for the operator only. */
export const operatorRoutes =
  <Deps extends { readonly config: AdminSettings }>(
    routes: (app: FastifyInstance, deps: Deps) => void,
  ): FastifyPluginAsync<{ deps: Deps }> =>
  async (app, { deps }) => {
    await app.register(
      async (admin) => {
        forOperatorsOnly(admin, deps.config)
        routes(admin, deps)
      },
      { prefix: '/admin/v1' },
    )
  }
