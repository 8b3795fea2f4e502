import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { NO_STORE_HEADERS } from '../../../platform/lib/web/envelope.ts'
import { localeOfRequest } from '../../../platform/lib/web/page.ts'
import type { RunDeps } from '../../certification/index.ts'
import { NotReplayable, noSuchEntry } from '../errors.ts'
import { HOME, partnerOf, sendSandboxPage } from '../guard.ts'
import { showEntry } from './entry.ts'
import { listTraffic, type TrafficPage } from './list.ts'
import { orderMark } from './order-mark.ts'
import { replay } from './replay.ts'
import { trafficTexts } from './texts.ts'
import { timelineOf } from './timeline.ts'
import {
  replayedQuery,
  type TrafficEntryParams,
  type TrafficQuery,
  timelineParams,
  trafficEntryParams,
  trafficQuery,
} from './wire.ts'

const TRAFFIC = `${HOME}/traffic`
const PAGE = { section: 'traffic', scripts: ['sandbox-copy.js'] } as const

/** The query of a list with the same filter, elsewhere. */
function listHref(
  { direction, outcome, by, value }: Partial<TrafficQuery>,
  place: Record<string, string> = {},
  page = TRAFFIC,
): string {
  const query = new URLSearchParams({
    ...(direction ? { direction } : {}),
    ...(outcome ? { outcome } : {}),
    ...(by && value ? { by, value } : {}),
    ...place,
  })
  return query.size > 0 ? `${page}?${query}` : page
}

const neighbours = (query: TrafficQuery, { newer, older }: TrafficPage) => ({
  newer: newer && listHref(query, { after: newer }),
  older: older && listHref(query, { before: older }),
  newest: query.before || query.after ? listHref(query) : undefined,
})

/** What sets the calls of one order apart from those of another; the link leads to these alone. */
const orderOf = (id: string, { direction, outcome, by, value }: TrafficQuery) => ({
  id,
  mark: orderMark(id),
  only: by === 'order' && value === id ? undefined : listHref({ direction, outcome, by: 'order', value: id }),
})

const exportsOf = (query: TrafficQuery) =>
  (['ndjson', 'har'] as const).map((format) => ({
    name: format.toUpperCase(),
    href: listHref(query, {}, `${TRAFFIC}/export/${format}`),
  }))

/** Every call in both directions, rejected ones too, of the partner that is signed in. */
export const trafficRoutes: FastifyPluginAsync<{ deps: RunDeps }> = async (app, { deps }) => {
  const entryOf = ({ params }: FastifyRequest): TrafficEntryParams => {
    const parsed = trafficEntryParams.safeParse(params)
    if (!parsed.success) throw noSuchEntry()
    return parsed.data
  }

  const sendEntry = async (request: FastifyRequest, reply: FastifyReply, alert = '') => {
    const entry = await showEntry(deps, partnerOf(request).partnerId, entryOf(request))
    const { replayed } = replayedQuery.parse(request.query)
    const texts = trafficTexts(localeOfRequest(request))
    const shown = {
      entry,
      texts,
      alert,
      replayed: replayed ? texts.replayed(replayed) : '',
    }
    return sendSandboxPage(request, reply, 'sandbox/traffic-entry', shown, PAGE)
  }

  app.get('/traffic', async (request, reply) => {
    const query = trafficQuery.parse(request.query)
    const page = await listTraffic(deps, partnerOf(request).partnerId, query)
    const lines = page.lines.map((line) => ({ ...line, order: line.order_id && orderOf(line.order_id, query) }))
    const texts = trafficTexts(localeOfRequest(request))
    const searchedTo = page.searchedTo?.toISOString()
    const shown = {
      lines,
      texts,
      ...neighbours(query, page),
      filter: query,
      whole: listHref({ direction: query.direction, outcome: query.outcome }),
      searchedTo,
      exports: exportsOf(query),
    }
    return sendSandboxPage(request, reply, 'sandbox/traffic', shown, PAGE)
  })

  app.get('/traffic/:kind/:id', (request, reply) => sendEntry(request, reply))

  app.post('/traffic/:kind/:id/replay', async (request, reply) => {
    try {
      const { kind, id, outcome } = await replay(deps, partnerOf(request).partnerId, entryOf(request))
      const to = id === undefined ? TRAFFIC : `${TRAFFIC}/${kind}/${id}?replayed=${outcome}`
      return reply.headers(NO_STORE_HEADERS).redirect(to, 303)
    } catch (error) {
      if (!(error instanceof NotReplayable)) throw error
      return sendEntry(request, reply.code(409), trafficTexts(localeOfRequest(request)).obstacle(error.obstacle))
    }
  })
}

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
