import type { FastifyInstance } from 'fastify'
import type { Deps } from '../deps.ts'
import { parseInput } from '../lib/json/input.ts'
import type { DepsFor } from '../lib/web/admin-auth.ts'
import { answerSuccess } from '../lib/web/envelope.ts'
import { importUsers } from './import.ts'
import { resetPassword } from './password.ts'
import { FACTORS } from './remove-factors.ts'
import { blockUser, createUser, listUsers, showUser, unblockUser } from './user.ts'
import { maskedUser, userKey, userPathInput } from './wire.ts'

/** Bytes: as many users as one import may have, each of the longest. */
const IMPORT_LIMIT = 4 * 1024 * 1024

const factorsPath = userPathInput.omit({ reason: true })

/** The operator's routes for users, below /admin/v1. */
export function userRoutes(app: FastifyInstance, depsFor: DepsFor<Deps>): void {
  app.get('/users', { config: { readsQuery: true } }, async (request, reply) => {
    const filter = parseInput(listUsers.input, request.query)
    // Whom a number belongs to is personal data too, and so is a name that the list masks.
    const asksWho = filter.phone_number !== undefined || filter.name !== undefined
    if (asksWho) await app.requireRole(request, 'support', 'a search by phone number or name')
    const { users, ...page } = await listUsers(depsFor(request), filter)
    return answerSuccess(request, reply, { users: users.map(maskedUser), ...page })
  })

  app.get('/users/:cid/:user_id', { config: { readsQuery: true } }, async (request, reply) => {
    const wanted = parseInput(userPathInput, { ...Object(request.query), ...Object(request.params) })
    if (wanted.reason !== undefined) await app.requireRole(request, 'support', 'unmasked personal data')
    return answerSuccess(request, reply, await showUser(depsFor(request), wanted))
  })

  app.post('/users', async (request, reply) =>
    answerSuccess(request, reply, await createUser(depsFor(request), parseInput(createUser.input, request.body))),
  )

  app.post('/users/import', { bodyLimit: IMPORT_LIMIT }, async (request, reply) =>
    answerSuccess(request, reply, await importUsers(depsFor(request), parseInput(importUsers.input, request.body))),
  )

  app.post('/users/reset-password', async (request, reply) =>
    answerSuccess(request, reply, await resetPassword(depsFor(request), parseInput(userKey, request.body))),
  )

  app.get('/users/:cid/:user_id/factors', async (request, reply) =>
    answerSuccess(request, reply, await FACTORS.show(depsFor(request), parseInput(factorsPath, request.params))),
  )

  app.post('/users/remove-factors', async (request, reply) =>
    answerSuccess(
      request,
      reply,
      await FACTORS.remove(depsFor(request), parseInput(FACTORS.remove.input, request.body)),
    ),
  )

  app.post('/users/block', async (request, reply) =>
    answerSuccess(request, reply, maskedUser(await blockUser(depsFor(request), parseInput(userKey, request.body)))),
  )

  app.post('/users/unblock', async (request, reply) =>
    answerSuccess(request, reply, maskedUser(await unblockUser(depsFor(request), parseInput(userKey, request.body)))),
  )
}
