import type { FastifyPluginAsync } from 'fastify'
import type { Deps } from '../deps.ts'
import { forgottenPages } from './forgotten-routes.ts'
import { passwordPages } from './password-routes.ts'
import { accountPages } from './routes.ts'
import { secondStepPages } from './second-step-routes.ts'
import { securityPages } from './security-routes.ts'

/** Users, passwords, browser sessions, the sign-in page. */
export const accountRoom: FastifyPluginAsync<{ deps: Deps }> = async (app, { deps }) => {
  await app.register(accountPages, { deps })
  await app.register(secondStepPages, { deps })
  await app.register(forgottenPages, { deps })
  await app.register(passwordPages, { deps })
  await app.register(securityPages, { deps })
}
