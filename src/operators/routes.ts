import type { FastifyInstance } from 'fastify'
import { settingsInForce } from '../config/in-force.ts'
import type { Deps } from '../deps.ts'
import type { DepsFor } from '../lib/web/admin-auth.ts'
import { answerSuccess } from '../lib/web/envelope.ts'

/** The settings of this process, below /admin/v1. */
export function settingsRoute(app: FastifyInstance, depsFor: DepsFor<Deps>): void {
  app.get('/settings', async (request, reply) =>
    answerSuccess(request, reply, settingsInForce(depsFor(request).config)),
  )
}
