import type { FastifyInstance } from 'fastify'
import type { Deps } from '../deps.ts'
import { parseInput } from '../lib/json/input.ts'
import type { ActingFor } from '../lib/web/admin-auth.ts'
import { answerLossless } from '../lib/web/envelope.ts'
import { allTrafficFilter, listAllTraffic } from './traffic/all.ts'

/** The operator's list of calls and notices of all partners, below /admin/v1; without what they held. */
export function trafficRoutes(app: FastifyInstance, as: ActingFor<Deps>): void {
  app.get('/traffic', { config: { readsQuery: true } }, async (request, reply) =>
    answerLossless(request, reply, await listAllTraffic(as(request), parseInput(allTrafficFilter, request.query))),
  )
}
