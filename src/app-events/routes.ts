import type { FastifyInstance } from 'fastify'
import type { Deps } from '../deps.ts'
import { parseInput } from '../lib/json/input.ts'
import type { DepsFor } from '../lib/web/admin-auth.ts'
import { answerSuccess } from '../lib/web/envelope.ts'
import { listAppEvents } from './events.ts'

interface OneApp {
  Params: { app_key: string }
}

/** What an app was told, and whether it arrived. */
export function appEventRoutes(app: FastifyInstance, depsFor: DepsFor<Deps>): void {
  app.get<OneApp>('/apps/:app_key/events', { config: { readsQuery: true } }, async (request, reply) => {
    const { app_key } = request.params
    const filter = parseInput(listAppEvents.input, { ...Object(request.query), app_key })
    return answerSuccess(request, reply, await listAppEvents(depsFor(request), filter))
  })
}
