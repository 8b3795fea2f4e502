import type { FastifyInstance } from 'fastify'
import type { Log } from '../log.ts'

/** `draining` turns true at shutdown, before the listener closes. */
export interface Readiness {
  draining: boolean
  /** While draining, whether answers leave their connection open all the same. */
  keepsConnections?: boolean
}

/**
 * `/healthz`: the process answers. `/readyz`: it can serve; otherwise the reason, which is also logged when it changes.
 */
export function registerHealth(
  app: FastifyInstance,
  readiness: Readiness,
  databaseState: () => Promise<string>,
  log: Log,
): void {
  let last = 'ok'
  const check = async (): Promise<string> => {
    const status = readiness.draining ? 'draining' : await databaseState()
    if (status !== last) {
      if (status === 'ok') log.info({ was: last }, 'ready again')
      else log.warn({ reason: status }, 'not ready')
    }
    last = status
    return status
  }
  app.get('/healthz', async () => ({ status: 'ok' }))
  app.get('/readyz', async (_request, reply) => {
    const status = await check()
    return reply.code(status === 'ok' ? 200 : 503).send({ status })
  })
}
