import type { FastifyInstance } from 'fastify'
import { endSessionsOfUser, type UserKey, userKey } from '../account/index.ts'
import type { Deps } from '../deps.ts'
import { parseInput } from '../lib/json/input.ts'
import type { DepsFor } from '../lib/web/admin-auth.ts'
import { answerSuccess } from '../lib/web/envelope.ts'
import { endTokensOfApp } from '../registry/index.ts'
import { countAppEnding, countUserEnding } from './ending.ts'
import { listGrants, withdrawGrant } from './grant.ts'

interface OneApp {
  Params: { app_key: string }
}

/** The user of a query, where everything is text. */
function userOf(query: unknown): UserKey {
  const { cid, ...rest } = query as Record<string, unknown>
  const isNumber = typeof cid === 'string' && /^\d+$/.test(cid)
  return parseInput(userKey, { ...rest, cid: isNumber ? Number(cid) : cid })
}

/** Operators look at the grants of a user or to a micro-app, and withdraw them. */
export function grantRoutes(app: FastifyInstance, depsFor: DepsFor<Deps>): void {
  app.get('/grants', { config: { readsQuery: true } }, async (request, reply) =>
    answerSuccess(request, reply, await listGrants(depsFor(request), parseInput(listGrants.input, request.query))),
  )

  app.post('/grants/revoke', async (request, reply) => {
    const reference = parseInput(withdrawGrant.input, request.body)
    await withdrawGrant(depsFor(request), reference)
    return answerSuccess(request, reply, { grant_id: reference.grant_id, revoked: true })
  })
}

/** Operators end everything of a user or an app at once; before that, GET says what would end. */
export function endingRoutes(app: FastifyInstance, depsFor: DepsFor<Deps>): void {
  app.get('/users/end-sessions', { config: { readsQuery: true } }, async (request, reply) =>
    answerSuccess(request, reply, await countUserEnding(depsFor(request), userOf(request.query))),
  )

  app.post('/users/end-sessions', async (request, reply) =>
    answerSuccess(request, reply, await endSessionsOfUser(depsFor(request), parseInput(userKey, request.body))),
  )

  app.get<OneApp>('/apps/:app_key/end-tokens', async (request, reply) =>
    answerSuccess(request, reply, await countAppEnding(depsFor(request), request.params.app_key)),
  )

  app.post<OneApp>('/apps/:app_key/end-tokens', async (request, reply) =>
    answerSuccess(request, reply, await endTokensOfApp(depsFor(request), request.params.app_key)),
  )
}
