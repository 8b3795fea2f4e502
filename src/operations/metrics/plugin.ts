import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import type { Deps } from '../../platform/deps.ts'
import { forOperatorsOnly } from '../../platform/lib/web/admin-auth.ts'
import { cameByProxy } from '../../platform/lib/web/caller-address.ts'
import { envelopeErrorHandler } from '../../platform/lib/web/envelope.ts'
import { namesThisMachine } from '../../platform/lib/web/web-url.ts'
import { type GatherMetrics, metricsText } from './exposition.ts'

interface Options {
  readonly deps: Deps
  readonly gather: GatherMetrics
  /** Needs no token from this machine; for listeners that only this machine can reach. */
  readonly open?: boolean
}

/** Whether a request on a loopback address really comes from this machine, not through a proxy or a foreign page. */
const isOfThisMachine = (request: FastifyRequest): boolean =>
  !cameByProxy(request) && namesThisMachine(request.headers.host)

const TYPE = 'text/plain; version=0.0.4; charset=utf-8'

/** `/metrics`, for Prometheus. Simultaneous scrapes share one answer. */
export const metricsRoom: FastifyPluginAsync<Options> = async (app, { deps, gather, open = false }) => {
  let answering: Promise<string> | undefined
  const answer = (): Promise<string> => {
    answering ??= metricsText(deps, gather).finally(() => {
      answering = undefined
    })
    return answering
  }
  await app.register(async (room) => {
    if (open) {
      room.setErrorHandler(envelopeErrorHandler(true))
      room.addHook('onRequest', async (request, reply) => {
        if (!app.isForOperators(request) || !isOfThisMachine(request)) await app.operatorGate.call(app, request, reply)
      })
    } else forOperatorsOnly(room)
    room.get('/metrics', async (_request, reply) => {
      const text = await answer()
      return reply.headers({ 'Content-Type': TYPE, 'Cache-Control': 'no-store' }).send(text)
    })
  })
}
