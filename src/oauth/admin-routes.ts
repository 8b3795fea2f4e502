import type { FastifyInstance } from 'fastify'
import type { Deps } from '../deps.ts'
import { parseInput } from '../lib/json/input.ts'
import type { ActingFor } from '../lib/web/admin-auth.ts'
import { answerSuccess } from '../lib/web/envelope.ts'
import { listGrants, withdrawGrant } from './grant.ts'
import { grantFilter, grantReference } from './wire.ts'

/** Operators look at the grants of a user or to a micro-app, and withdraw them. */
export function grantRoutes(app: FastifyInstance, as: ActingFor<Deps>): void {
  app.get('/grants', { config: { readsQuery: true } }, async (request, reply) =>
    answerSuccess(request, reply, await listGrants(as(request), parseInput(grantFilter, request.query))),
  )

  app.post('/grants/revoke', async (request, reply) => {
    const reference = parseInput(grantReference, request.body)
    await withdrawGrant(as(request), reference)
    return answerSuccess(request, reply, { grant_id: reference.grant_id, revoked: true })
  })
}
