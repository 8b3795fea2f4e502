import type { FastifyPluginAsync } from 'fastify'
import { parseInput } from '../lib/json/input.ts'
import { forOperatorsOnly } from '../lib/web/admin-auth.ts'
import { answerLossless } from '../lib/web/envelope.ts'
import type { NoticeDeps } from './deps.ts'
import { listNotices } from './received.ts'

interface OnePartner {
  Params: { partner_id: string }
}

/** The operator's view of what partners send, below /admin/v1. */
export const receivedNoticeRoutes: FastifyPluginAsync<{ deps: NoticeDeps }> = async (app, { deps }) => {
  forOperatorsOnly(app)
  app.get<OnePartner>('/partners/:partner_id/notices', { config: { readsQuery: true } }, async (request, reply) => {
    const filter = parseInput(listNotices.input, { ...(request.query as object), ...request.params })
    return answerLossless(request, reply, { notices: await listNotices(deps, filter) })
  })
}
