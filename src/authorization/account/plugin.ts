import type { FastifyPluginAsync } from 'fastify'
import type { Deps } from '../../platform/deps.ts'
import type { UpstreamDeps } from '../upstream/index.ts'
import { forgottenPages, passwordPages } from './password-routes.ts'
import { signInPages } from './routes.ts'
import { secondStepPages } from './second-step-routes.ts'
import { securityPages } from './security-routes.ts'
import { upstreamLogout, upstreamPages } from './upstream-routes.ts'

const ownPages: FastifyPluginAsync<{ deps: Deps }> = async (app, { deps }) => {
  await app.register(secondStepPages, { deps })
  await app.register(forgottenPages, { deps })
  await app.register(passwordPages, { deps })
  await app.register(securityPages, { deps })
}

/** Users, passwords, browser sessions, the sign-in page. */
export const accountRoom: FastifyPluginAsync<{ deps: UpstreamDeps }> = async (app, { deps }) => {
  await app.register(signInPages, { deps })
  const { upstream } = deps
  if (!upstream) return void (await app.register(ownPages, { deps }))
  const withProvider = { deps: { ...deps, upstream } }
  await app.register(upstreamPages, withProvider)
  await app.register(upstreamLogout, withProvider)
}
