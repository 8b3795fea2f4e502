import type { FastifyInstance } from 'fastify'
import { endSessionsOfUser, userKey } from '../account/index.ts'
import type { Deps } from '../deps.ts'
import { parseInput } from '../lib/json/input.ts'
import type { DepsFor } from '../lib/web/admin-auth.ts'
import { answerSuccess } from '../lib/web/envelope.ts'
import { endTokensOfApp } from '../registry/index.ts'
import { listGrants, revokeGrantByOperator } from './grant.ts'
import { previewRevocation } from './revocation-preview.ts'
import { userQuery } from './wire.ts'

interface OneApp {
  Params: { app_key: string }
}

/** Operators look at the grants of a user or to a micro-app, and revoke them. */
export function grantRoutes(app: FastifyInstance, depsFor: DepsFor<Deps>): void {
  app.get('/grants', { config: { readsQuery: true } }, async (request, reply) =>
    answerSuccess(request, reply, await listGrants(depsFor(request), parseInput(listGrants.input, request.query))),
  )

  app.post('/grants/revoke', async (request, reply) => {
    const reference = parseInput(revokeGrantByOperator.input, request.body)
    await revokeGrantByOperator(depsFor(request), reference)
    return answerSuccess(request, reply, { grant_id: reference.grant_id, revoked: true })
  })
}

/** Operators revoke everything of a user or an app at once; before that, GET says what would be revoked. */
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

  app.get<OneApp>('/apps/:app_key/end-tokens', async (request, reply) =>
    answerSuccess(request, reply, await previewRevocation.ofApp(depsFor(request), request.params.app_key)),
  )

  app.post<OneApp>('/apps/:app_key/end-tokens', async (request, reply) =>
    answerSuccess(request, reply, await endTokensOfApp(depsFor(request), request.params.app_key)),
  )
}
