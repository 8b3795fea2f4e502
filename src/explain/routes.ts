import type { FastifyInstance } from 'fastify'
import type { Deps } from '../deps.ts'
import { parseInput } from '../lib/json/input.ts'
import { type DepsFor, seesPeople } from '../lib/web/admin-auth.ts'
import { answerLossless } from '../lib/web/envelope.ts'
import { aboutWhat, explain, explainRequest, oneRequest } from './explain.ts'
import { withoutOthersWords } from './masked.ts'

/** What operators look up when somebody asks why a request was refused; below /admin/v1. */
export function explainRoutes(app: FastifyInstance, depsFor: DepsFor<Deps>): void {
  app.get('/requests/:request_id', async (request, reply) => {
    const { request_id } = parseInput(oneRequest, request.params)
    const found = await explainRequest(depsFor(request), request_id)
    return answerLossless(request, reply, seesPeople(request) ? found : withoutOthersWords(found))
  })

  app.get('/explain', { config: { readsQuery: true } }, async (request, reply) =>
    answerLossless(request, reply, await explain(depsFor(request), parseInput(aboutWhat, request.query).about)),
  )
}
