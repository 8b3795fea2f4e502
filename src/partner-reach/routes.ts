import type { FastifyInstance } from 'fastify'
import type { Deps } from '../deps.ts'
import { parseInput } from '../lib/json/input.ts'
import type { DepsFor } from '../lib/web/admin-auth.ts'
import { answerLossless } from '../lib/web/envelope.ts'
import { listBreakers, onePartner, resetBreaker } from './breaker-admin.ts'
import { listCertificates } from './certificate.ts'

/** What operators ask of breakers and certificates, below /admin/v1. */
export function partnerReachRoutes(app: FastifyInstance, depsFor: DepsFor<Deps>): void {
  const ownQuery = { config: { readsQuery: true } }

  app.get('/breakers', ownQuery, async (request, reply) =>
    answerLossless(request, reply, await listBreakers(depsFor(request), parseInput(listBreakers.input, request.query))),
  )

  app.post<{ Params: { partner_id: string } }>('/partners/:partner_id/reset-breaker', async (request, reply) => {
    const { partner_id } = parseInput(onePartner, request.params)
    return answerLossless(request, reply, await resetBreaker(depsFor(request), partner_id))
  })

  app.get('/certificates', ownQuery, async (request, reply) =>
    answerLossless(
      request,
      reply,
      await listCertificates(depsFor(request), parseInput(listCertificates.input, request.query)),
    ),
  )
}
