import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import type { Deps } from '../../platform/deps.ts'
import { NO_STORE_HEADERS } from '../../platform/lib/web/envelope.ts'
import { textsFor } from '../../platform/lib/web/page.ts'
import { noSuchPath, tooManyRequests } from '../../platform/lib/web/rescode.ts'
import { limitRate } from '../../platform/throttle/index.ts'
import {
  examineReport,
  findReport,
  findSigningKey,
  reportKey,
  reportKeyPem,
  type Verdict,
  verifyForm,
} from '../reports/index.ts'
import { sendSandboxPage } from './guard.ts'
import { functionName, stepName } from './texts.ts'

const VERIFIED_PER_MINUTE = 30
const PEM_TYPE = 'application/x-pem-file'
const STATUS = { genuine: 200, forged: 200, unreadable: 400, unknown: 404 } as const

interface OneReport {
  Params: { report_id: string }
}

/** Public pages that verify a report, the public key, and the files to verify a report elsewhere. */
export const reportRoutes: FastifyPluginAsync<{ deps: Deps }> = async (app, { deps }) => {
  const preHandler = limitRate(app, {
    kind: 'report verification',
    perMinute: VERIFIED_PER_MINUTE,
    refuse: tooManyRequests,
  })

  /** `found`: null until a report is submitted. `reportId`: it can be downloaded. `pasted`: the form's text. */
  const show = (
    request: FastifyRequest,
    reply: FastifyReply,
    found: Verdict | { readonly verdict: 'unknown' } | null,
    { signature = '', reportId = '', pasted = '' } = {},
  ) => {
    const t = textsFor(request)
    const names = { step: (id: string) => stepName(id, t), function: (id: string) => functionName(id, t) }
    const data = { found, signature, reportId, pasted, names, base: deps.config.PUBLIC_URL }
    reply.code(found ? STATUS[found.verdict] : 200)
    return sendSandboxPage(request, reply, 'sandbox/verify', data, request.method === 'POST' ? { query: '' } : {})
  }

  app.get('/verify', (request, reply) => show(request, reply, null))

  app.post('/verify', { preHandler }, async (request, reply) => {
    const { content, signature } = verifyForm.parse(request.body ?? {})
    return show(request, reply, await examineReport(deps, content, signature), { signature, pasted: content })
  })

  app.get<OneReport>('/verify/:report_id', async (request, reply) => {
    const stored = await findReport(deps, request.params.report_id)
    if (!stored) return show(request, reply, { verdict: 'unknown' })
    const { content, signature, report_id: reportId } = stored
    return show(request, reply, await examineReport(deps, content, signature), { signature, reportId })
  })

  const send = (reply: FastifyReply, type: string, body: string | Buffer) =>
    reply.headers({ ...NO_STORE_HEADERS, 'Content-Type': type }).send(body)
  const existing = async ({ params }: FastifyRequest<OneReport>) => {
    const stored = await findReport(deps, params.report_id)
    if (!stored) throw noSuchPath()
    return stored
  }

  app.get<OneReport>('/verify/:report_id/report.json', async (request, reply) =>
    send(reply, 'application/json; charset=utf-8', (await existing(request)).content),
  )
  app.get<OneReport>('/verify/:report_id/report.sig', async (request, reply) =>
    send(reply, 'application/octet-stream', Buffer.from((await existing(request)).signature, 'base64url')),
  )
  app.get<OneReport>('/verify/:report_id/report-key.pem', async (request, reply) => {
    const { content, signature } = await existing(request)
    const key = await findSigningKey(deps, content, signature)
    if (!key) throw noSuchPath()
    return send(reply, PEM_TYPE, reportKeyPem(key.x))
  })
  app.get('/report-key', (_request, reply) =>
    send(reply, 'application/jwk+json', JSON.stringify(reportKey(deps.keys).jwk)),
  )
  app.get('/report-key.pem', (_request, reply) => send(reply, PEM_TYPE, reportKeyPem(reportKey(deps.keys).jwk.x)))
}
