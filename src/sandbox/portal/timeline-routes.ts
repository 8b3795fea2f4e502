import type { FastifyPluginAsync } from 'fastify'
import { localeOfRequest } from '../../platform/lib/web/page.ts'
import type { RunDeps } from '../certification/index.ts'
import { noSuchEntry } from './errors.ts'
import { partnerOf, sendSandboxPage } from './guard.ts'
import { trafficTexts } from './traffic/texts.ts'
import { timelineOf } from './traffic/timeline.ts'
import { timelineParams } from './traffic/wire.ts'

/** One page an order: calls in both directions, and the states that it and its refunds came to. */
export const timelineRoutes: FastifyPluginAsync<{ deps: RunDeps }> = async (app, { deps }) => {
  app.get('/traffic/orders/:order_id', async (request, reply) => {
    const params = timelineParams.safeParse(request.params)
    if (!params.success) throw noSuchEntry()
    const timeline = await timelineOf(deps, partnerOf(request).partnerId, params.data.order_id)
    const shown = { ...timeline, texts: trafficTexts(localeOfRequest(request)) }
    return sendSandboxPage(request, reply, 'sandbox/timeline', shown, { section: 'traffic' })
  })
}
