import type { FastifyPluginAsync } from 'fastify'
import { textsFor } from '../../../platform/lib/web/page.ts'
import { showPartner } from '../../../ticketing/partners/index.ts'
import { noSuchRun, type RunDeps } from '../../certification/index.ts'
import { paramsOf, sendSandboxPage } from '../guard.ts'
import { openShareKey, sharedPath } from '../share.ts'
import { runPage } from './run-page.ts'
import { runQuery, sharedParams, sharedQuery } from './wire.ts'

/** The page that a link to a run opens: its log, without a form and without a link to what needs a sign-in. */
export const shareRoutes: FastifyPluginAsync<{ deps: RunDeps }> = async (app, { deps }) => {
  app.get('/shared/:partner_id/:run_id', async (request, reply) => {
    const { partner_id, run_id } = paramsOf(request, sharedParams, noSuchRun)
    const run = { partnerId: BigInt(partner_id), runId: run_id }
    const key = await openShareKey(deps, run, sharedQuery.parse(request.query).key)
    const t = textsFor(request)
    const { step, attempt } = runQuery.parse(request.query)
    const hrefOf = (id: string) => `${sharedPath(run)}?${new URLSearchParams({ key: key.text, step: id })}`
    const page = await runPage(deps, { ...run, step, attempt, hrefOf }, t)
    const { name } = await showPartner(deps, run.partnerId)
    const shown = { page, partnerName: name, until: key.expiresAt.toISOString(), shared: true }
    return sendSandboxPage(request, reply, 'sandbox/shared', shown)
  })
}
