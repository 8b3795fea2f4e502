import type { FastifyInstance } from 'fastify'
import { userKey, userPathInput } from '../account/index.ts'
import type { Deps } from '../deps.ts'
import { parseInput } from '../lib/json/input.ts'
import type { DepsFor } from '../lib/web/admin-auth.ts'
import { sendDownload } from '../lib/web/download.ts'
import { answerSuccess, JSON_TYPE } from '../lib/web/envelope.ts'
import { noteForLog } from '../lib/web/observe.ts'
import { listDeletionRequests } from './deletion.ts'
import { countErasable, eraseUser } from './erase.ts'
import { exportedUser, exportUser } from './export.ts'

const erasable = userPathInput.omit({ reason: true })

/** Operators erase a person, after GET has said what would go, and give a person their data. */
export function peopleRoutes(app: FastifyInstance, depsFor: DepsFor<Deps>): void {
  const ownQuery = { config: { readsQuery: true } }

  app.get('/users/deletion-requests', ownQuery, async (request, reply) =>
    answerSuccess(
      request,
      reply,
      await listDeletionRequests(depsFor(request), parseInput(listDeletionRequests.input, request.query)),
    ),
  )

  app.get('/users/erase', ownQuery, async (request, reply) =>
    answerSuccess(request, reply, await countErasable(depsFor(request), parseInput(erasable, request.query))),
  )

  app.post('/users/erase', async (request, reply) =>
    answerSuccess(request, reply, await eraseUser(depsFor(request), parseInput(userKey, request.body))),
  )

  app.get('/users/:cid/:user_id/export', ownQuery, async (request, reply) => {
    const wanted = parseInput(exportedUser, { ...Object(request.query), ...Object(request.params) })
    const parts = await exportUser(depsFor(request), wanted)
    noteForLog(request, { code: 0 })
    return sendDownload(reply, { name: 'person.json', type: JSON_TYPE, parts })
  })
}
