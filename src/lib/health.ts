import type { FastifyInstance } from 'fastify'
import { pendingMigrations } from '../db/migrate.ts'
import type { Db } from '../db/sql.ts'

/** `draining` turns true at shutdown, before the listener closes. */
export interface Readiness {
  draining: boolean
}

type Check = 'ok' | 'draining' | 'unreachable' | 'migrations pending'

async function checkReadiness(db: Db, readiness: Readiness): Promise<Check> {
  if (readiness.draining) return 'draining'
  try {
    return (await pendingMigrations(db)).length > 0 ? 'migrations pending' : 'ok'
  } catch {
    return 'unreachable'
  }
}

/** `/healthz`: the process answers. `/readyz`: it can serve (database reachable, schema current, not shutting down). */
export function registerHealth(app: FastifyInstance, db: Db, readiness: Readiness): void {
  app.get('/healthz', async () => ({ status: 'ok' }))
  app.get('/readyz', async (_request, reply) => {
    const check = await checkReadiness(db, readiness)
    return reply.code(check === 'ok' ? 200 : 503).send({ status: check })
  })
}
