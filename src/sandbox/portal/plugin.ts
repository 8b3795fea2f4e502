import type { FastifyPluginAsync } from 'fastify'
import type { RunDeps } from '../certification/index.ts'
import { sandboxApi } from './api/plugin.ts'
import { sandboxPages } from './routes.ts'

/** The partner's sandbox: pages below /sandbox, the headless API of the test run below /sandbox/api. */
export const sandboxRoom: FastifyPluginAsync<{ deps: RunDeps }> = async (app, { deps }) => {
  app.addHook('onClose', () => deps.runningAttempts.close())
  await app.register(sandboxPages, { deps, prefix: '/sandbox' })
  await app.register(sandboxApi, { deps, prefix: '/sandbox/api' })
}
