import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Log } from '../log.ts'

/** `draining` turns true at shutdown, before the listener closes. */
export interface Readiness {
  draining: boolean
  /** Whether answers leave their connection open even while draining. */
  keepsConnections?: boolean
}

interface State {
  readonly status: string
  /** For operators only: it may name hosts and users. */
  readonly why?: string
  readonly shards_away?: readonly string[]
}

/**
 * `/healthz`: the process answers. `/readyz`: it can serve requests, or the status says why not. Changes of that status,
 * and of which shards are away, are logged with the database's message, which operators also get in the answer.
 */
export function registerHealth(
  app: FastifyInstance,
  readiness: Readiness,
  log: Log,
  checks: { databaseState(): Promise<State>; isOperator(request: FastifyRequest): boolean },
): void {
  let last = 'ok'
  let lastAway: readonly string[] = []
  const logShardChanges = ({ shards_away: away = [], why }: State): void => {
    for (const shard of away) if (!lastAway.includes(shard)) log.warn({ shard, why }, 'a shard is away')
    for (const shard of lastAway) if (!away.includes(shard)) log.info({ shard }, 'a shard is back')
    lastAway = away
  }
  const check = async (): Promise<State> => {
    const state = readiness.draining ? { status: 'draining' } : await checks.databaseState()
    const { status, why } = state
    if (status !== last) {
      if (status === 'ok') log.info({ was: last }, 'ready again')
      else log.warn({ reason: status, why }, 'not ready')
    }
    last = status
    if (status === 'ok') logShardChanges(state)
    return state
  }
  app.get('/healthz', async () => ({ status: 'ok' }))
  app.get('/readyz', async (request, reply) => {
    const { status, why, shards_away } = await check()
    const details = why !== undefined && checks.isOperator(request) ? { why } : {}
    return reply.code(status === 'ok' ? 200 : 503).send({ status, shards_away, ...details })
  })
}
