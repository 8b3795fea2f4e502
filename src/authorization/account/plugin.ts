import type { FastifyPluginAsync } from 'fastify'
import type { UpstreamDeps } from '../upstream/index.ts'
import { forgottenPages, passwordPages } from './password-routes.ts'
import { secondStepPages, signInPages } from './routes.ts'
import { securityPages } from './security-routes.ts'
import { upstreamLogout, upstreamPages } from './upstream-routes.ts'

/** Users, passwords, browser sessions, the sign-in page. */
export const accountRoom: FastifyPluginAsync<{ deps: UpstreamDeps }> = async (app, { deps }) => {
  await app.register(signInPages, { deps })
  const { upstream } = deps
  if (!upstream) {
    const ownPages = [secondStepPages, forgottenPages, passwordPages, securityPages]
    for (const pages of ownPages) await app.register(pages, { deps })
    return
  }
  const withProvider = { deps: { ...deps, upstream } }
  await app.register(upstreamPages, withProvider)
  await app.register(upstreamLogout, withProvider)
}
