import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { sendDownload } from '../../../platform/lib/web/download.ts'
import { seeOther } from '../../../platform/lib/web/envelope.ts'
import { localeOfRequest, textsFor } from '../../../platform/lib/web/page.ts'
import { countUse } from '../../../platform/throttle/index.ts'
import type { RunDeps } from '../../certification/index.ts'
import { NotReplayable, noSuchEntry } from '../errors.ts'
import { HOME, paramsOf, partnerOf, sendSandboxPage } from '../guard.ts'
import { showEntry, shownIn } from './entry.ts'
import { EXPORT_FORMATS, exported } from './export.ts'
import { listTraffic, type TrafficPage } from './list.ts'
import { replay, replayMany } from './replay.ts'
import { trafficTexts } from './texts.ts'
import { timelineOf } from './timeline.ts'
import {
  exportParams,
  orderParams,
  replayedManyQuery,
  replayedQuery,
  replayForm,
  type TrafficQuery,
  trafficEntryParams,
  trafficQuery,
} from './wire.ts'

/** SVG dash arrays: marks differ in pattern as well as in colour. */
const PATTERNS = ['none', '10 4', '3 3'] as const
const COLOURS = 12

/** The mark of an order, one of 36, so two orders may share one; the row also shows the id. */
export function orderMark(orderId: string) {
  // Consecutive ids differ most in their last digits.
  const number = Number(BigInt(orderId) % BigInt(COLOURS * PATTERNS.length))
  const hue = (number % COLOURS) * (360 / COLOURS)
  return { stroke: `oklch(0.6 0.13 ${hue})`, dashes: PATTERNS[Math.floor(number / COLOURS)] ?? 'none' }
}

const TRAFFIC = `${HOME}/traffic`
const PAGE = { section: 'traffic', scripts: ['sandbox-copy.js'] } as const

/** The URL of a page with the same filter. */
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

/** The order's mark, and a link that shows only its calls. */
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

/** All calls of the signed-in partner in both directions, including rejected ones. */
export const trafficRoutes: FastifyPluginAsync<{ deps: RunDeps }> = async (app, { deps }) => {
  const entryOf = (request: FastifyRequest) => paramsOf(request, trafficEntryParams, noSuchEntry)

  const sendEntry = async (request: FastifyRequest, reply: FastifyReply, alert = '') => {
    const entry = await showEntry(deps, partnerOf(request).partnerId, entryOf(request), shownIn(textsFor(request)))
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
      return seeOther(reply, to)
    } catch (error) {
      if (!(error instanceof NotReplayable)) throw error
      return sendEntry(request, reply.code(409), trafficTexts(localeOfRequest(request)).obstacle(error.obstacle))
    }
  })

  // Calls in both directions, and state changes of the order and its refunds.
  app.get('/traffic/orders/:order_id', async (request, reply) => {
    const { order_id } = paramsOf(request, orderParams, noSuchEntry)
    const timeline = await timelineOf(deps, partnerOf(request).partnerId, order_id)
    const shown = { ...timeline, texts: trafficTexts(localeOfRequest(request)) }
    return sendSandboxPage(request, reply, 'sandbox/timeline', shown, { section: 'traffic' })
  })

  app.get('/traffic/export/:format', async (request, reply) => {
    const { format } = paramsOf(request, exportParams, noSuchEntry)
    const { partnerId } = partnerOf(request)
    await countUse(deps, 'export', partnerId)
    const parts = exported(deps, partnerId, trafficQuery.parse(request.query), format)
    return sendDownload(reply, { name: `traffic.${format}`, type: EXPORT_FORMATS[format], parts })
  })

  app.post('/traffic/replay', async (request, reply) => {
    const chosen = replayForm.safeParse(request.body)
    if (!chosen.success) return seeOther(reply, `${TRAFFIC}?chosen=wrongly`)
    const all = await replayMany(deps, partnerOf(request).partnerId, chosen.data.entry)
    const query = new URLSearchParams(
      all.map(({ outcome, kind, id }): [string, string] => ['one', `${outcome}.${kind}.${id}`]),
    )
    return seeOther(reply, `${TRAFFIC}/replayed?${query}`)
  })

  app.get('/traffic/replayed', async (request, reply) => {
    const { one: all } = replayedManyQuery.parse(request.query)
    const shown = { all, texts: trafficTexts(localeOfRequest(request)) }
    return sendSandboxPage(request, reply, 'sandbox/replayed', shown, { section: 'traffic' })
  })
}
