import type { FastifyInstance } from 'fastify'
import type { Deps } from '../deps.ts'
import { parseInput } from '../lib/json/input.ts'
import type { ActingFor } from '../lib/web/admin-auth.ts'
import { answerSuccess } from '../lib/web/envelope.ts'
import { listSigningKeys, retirementInput, retireSigningKey, rotateSigningKeys, rotationInput } from './signing-key.ts'

/** The operator's routes for the keys that sign id_tokens, below /admin/v1. */
export function signingKeyRoutes(app: FastifyInstance, as: ActingFor<Deps>): void {
  app.get('/signing-keys', async (request, reply) =>
    answerSuccess(request, reply, { keys: await listSigningKeys(as(request)) }),
  )

  app.post('/signing-keys/rotate', async (request, reply) => {
    const input = parseInput(rotationInput, request.body ?? {})
    return answerSuccess(request, reply, { keys: await rotateSigningKeys(as(request), input) })
  })

  app.post('/signing-keys/retire', async (request, reply) => {
    const input = parseInput(retirementInput, request.body)
    return answerSuccess(request, reply, { keys: await retireSigningKey(as(request), input) })
  })
}
