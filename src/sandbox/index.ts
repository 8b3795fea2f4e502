import type { FastifyPluginAsync } from 'fastify'
import type { Deps } from '../deps.ts'
import { sandboxPages } from './routes.ts'

/** The partner's sandbox: sign-in, signature tool, test run. */
export const sandboxRoom: FastifyPluginAsync<{ deps: Deps }> = async (app, { deps }) => {
  await app.register(sandboxPages, { deps, prefix: '/sandbox' })
}
