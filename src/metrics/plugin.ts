import type { FastifyInstance, FastifyPluginAsync, FastifyRequest } from 'fastify'
import type { Deps } from '../deps.ts'
import { forOperatorsOnly } from '../lib/web/admin-auth.ts'
import { noSuchPath } from '../lib/web/rescode.ts'
import { type GatherMetrics, metricsText } from './exposition.ts'

interface Options {
  readonly deps: Deps
  readonly gather: GatherMetrics
  /** On a listener that nobody but this machine reaches: without a token. */
  readonly open?: boolean
}

/** On ADMIN_PORT alone, as everything for operators. */
function onlyHere(app: FastifyInstance, request: FastifyRequest): void {
  if (!app.isForOperators(request)) throw noSuchPath()
}

/** The text format that Prometheus reads. */
const TYPE = 'text/plain; version=0.0.4; charset=utf-8'

/** `/metrics`, for Prometheus. Scrapes that come at once share one answer. */
export const metricsRoom: FastifyPluginAsync<Options> = async (app, { deps, gather, open = false }) => {
  let answering: Promise<string> | undefined
  const answer = (): Promise<string> => {
    answering ??= metricsText(deps, gather).finally(() => {
      answering = undefined
    })
    return answering
  }
  await app.register(async (room) => {
    if (open) room.addHook('onRequest', async (request) => onlyHere(app, request))
    else forOperatorsOnly(room)
    room.get('/metrics', async (_request, reply) => {
      const text = await answer()
      return reply.headers({ 'Content-Type': TYPE, 'Cache-Control': 'no-store' }).send(text)
    })
  })
}
