import type { FastifyInstance } from 'fastify'
import type { Deps } from '../deps.ts'
import { parseInput } from '../lib/json/input.ts'
import type { DepsFor } from '../lib/web/admin-auth.ts'
import { answerSuccess } from '../lib/web/envelope.ts'
import { listSigningKeys, retirementInput, retireSigningKey, rotateSigningKeys, rotationInput } from './signing-key.ts'

/** The operator's routes for the keys that sign id_tokens, below /admin/v1. */
export function signingKeyRoutes(app: FastifyInstance, depsFor: DepsFor<Deps>): void {
  app.get('/signing-keys', async (request, reply) =>
    answerSuccess(request, reply, { keys: await listSigningKeys(depsFor(request)) }),
  )

  app.post('/signing-keys/rotate', async (request, reply) => {
    const input = parseInput(rotationInput, request.body ?? {})
    return answerSuccess(request, reply, { keys: await rotateSigningKeys(depsFor(request), input) })
  })

  app.post('/signing-keys/retire', async (request, reply) => {
    const input = parseInput(retirementInput, request.body)
    return answerSuccess(request, reply, { keys: await retireSigningKey(depsFor(request), input) })
  })
}
