import type { FastifyInstance } from 'fastify'
import type { Deps } from '../deps.ts'
import { parseInput } from '../lib/json/input.ts'
import { answerSuccess } from '../lib/web/envelope.ts'
import { blockUser, createUser, listUsers, unblockUser } from './user.ts'
import { newUser, userFilter, userKey } from './wire.ts'

/** The operator's routes for users, below /admin/v1. */
export function userRoutes(app: FastifyInstance, deps: Deps): void {
  app.get('/users', { config: { readsQuery: true } }, async (request, reply) =>
    answerSuccess(request, reply, await listUsers(deps, parseInput(userFilter, request.query))),
  )

  app.post('/users', async (request, reply) =>
    answerSuccess(request, reply, await createUser(deps, parseInput(newUser, request.body))),
  )

  app.post('/users/block', async (request, reply) =>
    answerSuccess(request, reply, await blockUser(deps, parseInput(userKey, request.body))),
  )

  app.post('/users/unblock', async (request, reply) =>
    answerSuccess(request, reply, await unblockUser(deps, parseInput(userKey, request.body))),
  )
}
