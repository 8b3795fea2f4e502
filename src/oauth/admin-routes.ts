import type { FastifyInstance } from 'fastify'
import type { Deps } from '../deps.ts'
import { parseInput } from '../lib/json/input.ts'
import { answerSuccess } from '../lib/web/envelope.ts'
import { listGrants, withdrawGrant } from './grant.ts'
import { grantReference, userReference } from './wire.ts'

/** Operators look at the grants of a user and withdraw them. */
export function grantRoutes(app: FastifyInstance, deps: Deps): void {
  app.get('/grants', { config: { readsQuery: true } }, async (request, reply) => {
    const { cid, ...rest } = request.query as Record<string, unknown>
    const isNumber = typeof cid === 'string' && /^\d+$/.test(cid)
    const user = parseInput(userReference, { ...rest, cid: isNumber ? Number(cid) : cid })
    return answerSuccess(request, reply, { grants: await listGrants(deps, user) })
  })

  app.post('/grants/revoke', async (request, reply) => {
    await withdrawGrant(deps, parseInput(grantReference, request.body))
    return answerSuccess(request, reply, {})
  })
}
