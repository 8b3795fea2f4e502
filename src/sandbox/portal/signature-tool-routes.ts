import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import { seeOther } from '../../platform/lib/web/envelope.ts'
import { amountOfTime, type Locale, translator } from '../../platform/lib/web/locale.ts'
import { localeOfRequest, textsFor } from '../../platform/lib/web/page.ts'
import { tooManyRequests } from '../../platform/lib/web/rescode.ts'
import { limitRate } from '../../platform/throttle/index.ts'
import { testPastedSignature } from '../../ticketing/mws/index.ts'
import type { RunDeps } from '../certification/index.ts'
import { HOME, partnerOf, sendSandboxPage } from './guard.ts'
import { type SignatureVerdict, showSignatureTool } from './signature-tool.ts'
import { asTyped, pastedForm, verdictQuery } from './wire.ts'

/** Limit per partner: a call that matches no known mistake takes about 100 ms of CPU time. */
const JUDGED_PER_MINUTE = 120

/** local-time.js is always loaded: calls that arrive later add times, even to a page without any. */
const PAGE = { section: 'signature', scripts: ['sandbox-copy.js', 'sandbox-signature.js', 'local-time.js'] } as const

/** The signature tool, which must be passed before the test run. */
export const signatureToolRoutes: FastifyPluginAsync<{ deps: RunDeps }> = async (app, { deps }) => {
  const preHandler = limitRate(app, {
    kind: 'signature tool',
    perMinute: JUDGED_PER_MINUTE,
    by: (request) => String(partnerOf(request).partnerId),
    refuse: tooManyRequests,
  })
  const show = async (request: FastifyRequest, testId?: string) => {
    const partner = partnerOf(request)
    const locale = localeOfRequest(request)
    const tool = await showSignatureTool(deps, partner, testId, locale)
    const typed = {
      method: 'POST',
      url: tool.paths.at(-1),
      date: '',
      authorization: '',
      partner_id: String(partner.partnerId),
      host: new URL(deps.config.PARTNER_URL).host,
    }
    return { ...tool, typed, alert: '', clockNote: tool.verdict ? clockNote(tool.verdict, locale) : undefined }
  }

  app.get('/signature', async (request, reply) => {
    const { test } = verdictQuery.parse(request.query)
    return sendSandboxPage(request, reply, 'sandbox/signature', await show(request, test), PAGE)
  })

  app.post('/signature', { preHandler }, async (request, reply) => {
    const form = pastedForm.safeParse(request.body)
    if (form.success) {
      const { partner_id: partnerId, ...call } = form.data
      const id = await testPastedSignature(deps, partnerOf(request).partnerId, { ...call, partnerId })
      return seeOther(reply, `${HOME}/signature?test=${id}#verdict`)
    }
    const shown = await show(request)
    const alert = textsFor(request)('sandbox.signature.incomplete')
    const page = { ...shown, typed: { ...shown.typed, ...asTyped.parse(request.body) }, alert }
    return sendSandboxPage(request, reply.code(400), 'sandbox/signature', page, { ...PAGE, query: '' })
  })
}

/** "7 minutes ahead of our clock", if that is the mistake, with our clock as a Date header for comparison. */
function clockNote({ mistakes, aheadS, clock }: SignatureVerdict, locale: Locale) {
  const wrong = mistakes.some((name) => name.startsWith('clock-') || name === 'date-local-time-labelled-gmt')
  if (!wrong || aheadS === null) return undefined
  const t = translator(locale)
  const amount = amountOfTime(locale, Math.abs(aheadS))
  const values = { amount, clock: '\n' }
  const note = aheadS > 0 ? t('sandbox.signature.ahead', values) : t('sandbox.signature.behind', values)
  const [before, after] = note.split('\n')
  return { before, clock, after }
}
