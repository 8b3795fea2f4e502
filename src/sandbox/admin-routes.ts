import type { FastifyInstance } from 'fastify'
import type { RunDeps } from '../certification/index.ts'
import { parseInput } from '../lib/json/input.ts'
import type { DepsFor } from '../lib/web/admin-auth.ts'
import { answerLossless } from '../lib/web/envelope.ts'
import { listAllTraffic } from './traffic/list-all-partners.ts'
import { showTraffic } from './traffic/show-entry.ts'

/** Calls and notices of all partners for operators, below /admin/v1. Bodies are whole with a reason only. */
export function trafficAdminRoutes(app: FastifyInstance, depsFor: DepsFor<RunDeps>): void {
  app.get('/traffic', { config: { readsQuery: true } }, async (request, reply) =>
    answerLossless(
      request,
      reply,
      await listAllTraffic(depsFor(request), parseInput(listAllTraffic.input, request.query)),
    ),
  )

  app.get<{ Params: { id: string } }>('/traffic/:id', { config: { readsQuery: true } }, async (request, reply) => {
    const wanted = parseInput(showTraffic.input, { ...Object(request.query), ...request.params })
    if (wanted.reason !== undefined) await app.requireRole(request, 'support', 'unmasked personal data')
    return answerLossless(request, reply, await showTraffic(depsFor(request), wanted))
  })
}
