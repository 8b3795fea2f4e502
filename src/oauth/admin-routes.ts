import type { FastifyInstance } from 'fastify'
import { endSessionsOfUser, userKey } from '../account/index.ts'
import type { Deps } from '../deps.ts'
import { parseInput } from '../lib/json/input.ts'
import type { DepsFor } from '../lib/web/admin-auth.ts'
import { answerSuccess } from '../lib/web/envelope.ts'
import { previewRevocation } from './revocation-preview.ts'
import { userQuery } from './wire.ts'

/** Operators revoke everything of a user at once; before that, GET says what would be revoked. */
export function revocationRoutes(app: FastifyInstance, depsFor: DepsFor<Deps>): void {
  app.get('/users/end-sessions', { config: { readsQuery: true } }, async (request, reply) =>
    answerSuccess(
      request,
      reply,
      await previewRevocation.ofUser(depsFor(request), parseInput(userQuery, request.query)),
    ),
  )

  app.post('/users/end-sessions', async (request, reply) =>
    answerSuccess(request, reply, await endSessionsOfUser(depsFor(request), parseInput(userKey, request.body))),
  )
}
