import type { FastifyInstance } from 'fastify'

/** `draining` turns true at shutdown, before the listener closes. */
export interface Readiness {
  draining: boolean
}

type Check = 'ok' | 'draining' | 'unreachable' | 'migrations pending'

/** `/healthz`: the process answers. `/readyz`: it can serve (database reachable, schema current, not shutting down). */
export function registerHealth(
  app: FastifyInstance,
  readiness: Readiness,
  pendingMigrations: () => Promise<readonly string[]>,
): void {
  const check = async (): Promise<Check> => {
    if (readiness.draining) return 'draining'
    try {
      return (await pendingMigrations()).length > 0 ? 'migrations pending' : 'ok'
    } catch {
      return 'unreachable'
    }
  }
  app.get('/healthz', async () => ({ status: 'ok' }))
  app.get('/readyz', async (_request, reply) => {
    const status = await check()
    return reply.code(status === 'ok' ? 200 : 503).send({ status })
  })
}
