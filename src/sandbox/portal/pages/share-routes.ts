import type { FastifyPluginAsync } from 'fastify'
import { translator } from '../../../platform/lib/web/locale.ts'
import { localeOfRequest } from '../../../platform/lib/web/page.ts'
import { showPartner } from '../../../ticketing/partners/index.ts'
import type { RunDeps } from '../../certification/index.ts'
import { noSuchRun } from '../../certification/index.ts'
import { sendSandboxPage } from '../guard.ts'
import { runPage } from './run-page.ts'
import { openShareKey, sharedPath } from './share.ts'
import { runQuery, sharedParams, sharedQuery } from './wire.ts'

/** The page that a link to a run opens: its log, without a form and without a link to what needs a sign-in. */
export const shareRoutes: FastifyPluginAsync<{ deps: RunDeps }> = async (app, { deps }) => {
  app.get('/shared/:partner_id/:run_id', async (request, reply) => {
    const params = sharedParams.safeParse(request.params)
    if (!params.success) throw noSuchRun()
    const run = { partnerId: BigInt(params.data.partner_id), runId: params.data.run_id }
    const key = await openShareKey(deps, run, sharedQuery.parse(request.query).key)
    const t = translator(localeOfRequest(request))
    const { step, attempt } = runQuery.parse(request.query)
    const hrefOf = (id: string) => `${sharedPath(run)}?${new URLSearchParams({ key: key.text, step: id })}`
    const page = await runPage(deps, { ...run, step, attempt, hrefOf }, t)
    const { name } = await showPartner(deps, run.partnerId)
    const shown = { page, partnerName: name, until: key.expiresAt.toISOString(), shared: true }
    return sendSandboxPage(request, reply, 'sandbox/shared', shown)
  })
}
