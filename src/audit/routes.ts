import type { FastifyInstance } from 'fastify'
import type { Deps } from '../deps.ts'
import { parseInput } from '../lib/json/input.ts'
import { type DepsFor, seesPeople } from '../lib/web/admin-auth.ts'
import { sendDownload } from '../lib/web/download.ts'
import { answerLossless, answerSuccess } from '../lib/web/envelope.ts'
import { noteForLog } from '../lib/web/observe.ts'
import { exportAudit, listAudit } from './list.ts'
import { verifyAuditInTime } from './verify.ts'
import { auditExport, verification } from './wire.ts'

const TYPES = { csv: 'text/csv; charset=utf-8', ndjson: 'application/x-ndjson; charset=utf-8' } as const

/** The audit log for operators, below /admin/v1. */
export function auditRoutes(app: FastifyInstance, depsFor: DepsFor<Deps>): void {
  const ownQuery = { config: { readsQuery: true } }

  app.get('/audit', ownQuery, async (request, reply) => {
    const { events, next } = await listAudit(depsFor(request), parseInput(listAudit.input, request.query))
    const shown = seesPeople(request) ? events : events.map((event) => ({ ...event, address: null }))
    return answerSuccess(request, reply, { events: shown, next })
  })

  app.get('/audit/export', ownQuery, async (request, reply) => {
    const wanted = parseInput(auditExport, request.query)
    noteForLog(request, { code: 0 })
    const { format } = wanted
    const parts = exportAudit(depsFor(request), wanted)
    return sendDownload(reply, { name: `audit.${format}`, type: TYPES[format], parts })
  })

  app.get('/audit/verify', ownQuery, async (request, reply) =>
    answerLossless(request, reply, await verifyAuditInTime(depsFor(request), parseInput(verification, request.query))),
  )
}
