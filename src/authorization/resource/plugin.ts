import type { FastifyInstance, FastifyPluginAsync } from 'fastify'
import { withShareOf } from '../../platform/db/sql.ts'
import type { Deps } from '../../platform/deps.ts'
import { type AccessLedger, openAccessLedger } from './access-ledger.ts'
import { resourceRoutes } from './routes.ts'

declare module 'fastify' {
  interface FastifyInstance {
    readonly accessLedger: AccessLedger
  }
}

/** Lets routes record what they disclose. Called once, before the rooms; pending counts are written when the app closes. */
export function registerAccessLedger(app: FastifyInstance, deps: Deps): void {
  const ledger = openAccessLedger(withShareOf(deps, 'operators'), app.sampledLog)
  app.decorate('accessLedger', ledger)
  app.addHook('onClose', () => ledger.flush())
}

/** A4 and A5. The oauth room, which owns /oauth/v2/, answers unknown paths and wrong methods. */
export const resourceRoom: FastifyPluginAsync<{ deps: Deps }> = async (app, { deps }) => {
  await app.register(resourceRoutes, { deps, prefix: '/oauth/v2/api/resource' })
}
