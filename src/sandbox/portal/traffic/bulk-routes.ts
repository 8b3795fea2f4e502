import type { FastifyPluginAsync } from 'fastify'
import { sendDownload } from '../../../platform/lib/web/download.ts'
import { NO_STORE_HEADERS } from '../../../platform/lib/web/envelope.ts'
import { localeOfRequest } from '../../../platform/lib/web/page.ts'
import { countUse } from '../../../platform/throttle/index.ts'
import type { RunDeps } from '../../certification/index.ts'
import { noSuchEntry } from '../errors.ts'
import { HOME, partnerOf, sendSandboxPage } from '../guard.ts'
import { EXPORT_FORMATS, exported } from './export.ts'
import { replayMany } from './replay.ts'
import { trafficTexts } from './texts.ts'
import { exportParams, replayedManyQuery, replayForm, trafficQuery } from './wire.ts'

const TRAFFIC = `${HOME}/traffic`

/** What is done with many entries at once: an export of the list, and replays of what was chosen in it. */
export const trafficBulkRoutes: FastifyPluginAsync<{ deps: RunDeps }> = async (app, { deps }) => {
  app.get('/traffic/export/:format', async (request, reply) => {
    const params = exportParams.safeParse(request.params)
    if (!params.success) throw noSuchEntry()
    const { format } = params.data
    const { partnerId } = partnerOf(request)
    await countUse(deps, 'export', partnerId)
    const parts = exported(deps, partnerId, trafficQuery.parse(request.query), format)
    return sendDownload(reply, { name: `traffic.${format}`, type: EXPORT_FORMATS[format], parts })
  })

  app.post('/traffic/replay', async (request, reply) => {
    reply.headers(NO_STORE_HEADERS)
    const chosen = replayForm.safeParse(request.body)
    if (!chosen.success) return reply.redirect(`${TRAFFIC}?chosen=wrongly`, 303)
    const all = await replayMany(deps, partnerOf(request).partnerId, chosen.data.entry)
    const query = new URLSearchParams(
      all.map(({ outcome, kind, id }): [string, string] => ['one', `${outcome}.${kind}.${id}`]),
    )
    return reply.redirect(`${TRAFFIC}/replayed?${query}`, 303)
  })

  app.get('/traffic/replayed', async (request, reply) => {
    const { one: all } = replayedManyQuery.parse(request.query)
    const shown = { all, texts: trafficTexts(localeOfRequest(request)) }
    return sendSandboxPage(request, reply, 'sandbox/replayed', shown, { section: 'traffic' })
  })
}
