import type { FastifyInstance } from 'fastify'
import type { Deps } from '../deps.ts'
import { requireAdmin } from '../lib/admin-auth.ts'
import { envelopeErrorHandler, sendSuccess } from '../lib/envelope.ts'
import { listGrants, withdrawGrant } from './grant.ts'

/** Operators look at the grants of a user and withdraw them. */
export async function grantAdminRoutes(app: FastifyInstance, { deps }: { deps: Deps }): Promise<void> {
  app.setErrorHandler(envelopeErrorHandler(true))
  app.addHook('onRequest', requireAdmin(deps.config))

  app.get('/grants', async (request, reply) =>
    sendSuccess(request, reply, {
      grants: await listGrants(deps, request.query),
    }),
  )

  app.post('/grants/revoke', async (request, reply) => {
    await withdrawGrant(deps, request.body)
    return sendSuccess(request, reply, {})
  })
}
