import type { FastifyInstance } from 'fastify'
import type { Deps } from '../deps.ts'
import { parseInput } from '../lib/json/input.ts'
import { answerSuccess } from '../lib/web/envelope.ts'
import { listGrants, withdrawGrant } from './grant.ts'
import { grantFilter, grantReference } from './wire.ts'

/** Operators look at the grants of a user or to a micro-app, and withdraw them. */
export function grantRoutes(app: FastifyInstance, deps: Deps): void {
  app.get('/grants', { config: { readsQuery: true } }, async (request, reply) =>
    answerSuccess(request, reply, await listGrants(deps, parseInput(grantFilter, request.query))),
  )

  app.post('/grants/revoke', async (request, reply) => {
    await withdrawGrant(deps, parseInput(grantReference, request.body))
    return answerSuccess(request, reply, {})
  })
}
