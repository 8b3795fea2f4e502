import type { FastifyPluginAsync } from 'fastify'
import { interruptSteps } from '../certification/attempt.ts'
import type { Deps } from '../deps.ts'
import { sandboxApi } from './api/plugin.ts'
import { sandboxPages } from './routes.ts'

/** The partner's sandbox: sign-in, signature tool, test run; and the test run for programs. */
export const sandboxRoom: FastifyPluginAsync<{ deps: Deps }> = async (app, { deps }) => {
  app.addHook('onClose', () => interruptSteps(deps))
  await app.register(sandboxPages, { deps, prefix: '/sandbox' })
  await app.register(sandboxApi, { deps, prefix: '/sandbox/api' })
}
