import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { InvalidInput } from '../../../platform/lib/json/input.ts'
import { seeOther } from '../../../platform/lib/web/envelope.ts'
import { localeOfRequest, textsFor } from '../../../platform/lib/web/page.ts'
import { RefusedRequest } from '../../../platform/lib/web/rescode.ts'
import { type InterfaceName, interfaceNamed } from '../../../ticketing/interfaces/index.ts'
import { existingPartner } from '../../../ticketing/partner-calls/index.ts'
import type { RunDeps } from '../../certification/index.ts'
import { noSuchEntry } from '../errors.ts'
import { HOME, paramsOf, partnerOf, sendSandboxPage } from '../guard.ts'
import { orderParams } from '../traffic/wire.ts'
import { asTyped } from '../wire.ts'
import { actOnOrder, makeOrder, type OrderCall, requireTrialOrder } from './orders.ts'
import { interfacePage, orderForPage, playPage, problemText, type Shown } from './page.ts'
import { sendWritten } from './send.ts'
import { PLAY_ORDER_FIELDS, playActionParams, playOrderForm, playQuery, refundForm, writtenForm } from './wire.ts'

const PLAY = `${HOME}/play`
const PLAY_PAGE = { section: 'play', scripts: ['sandbox-copy.js'] } as const

/** The page that shows a call and the checks of its response. */
const resultPage = (name: InterfaceName, callId: string, expect: string): string =>
  `${PLAY}/${name}?${new URLSearchParams({ call: callId, expect })}#result`

interface InterfaceRoute {
  Params: { name: string }
}

/** The playground for hand-written calls: one form per interface, which shows the response. */
export const playRoutes: FastifyPluginAsync<{ deps: RunDeps }> = async (app, { deps }) => {
  const nameOf = ({ params }: FastifyRequest<InterfaceRoute>): InterfaceName => {
    const entry = interfaceNamed(params.name)
    if (!entry) throw noSuchEntry()
    return entry.name as InterfaceName
  }

  const show = async (
    request: FastifyRequest<InterfaceRoute>,
    reply: FastifyReply,
    shown: Shown,
    problem = '',
  ): Promise<FastifyReply> => {
    const partner = await existingPartner(deps, partnerOf(request).partnerId)
    const page = await interfacePage(deps, partner, nameOf(request), shown, localeOfRequest(request))
    return sendSandboxPage(request, reply, 'sandbox/play-interface', { page, problem }, PLAY_PAGE)
  }

  app.get('/play', async (request, reply) => {
    const partner = await existingPartner(deps, partnerOf(request).partnerId)
    const page = await playPage(deps, partner, localeOfRequest(request))
    return sendSandboxPage(request, reply, 'sandbox/play', { page, alert: '' }, PLAY_PAGE)
  })

  app.get<InterfaceRoute>('/play/:name', async (request, reply) => {
    const { call, expect, example } = playQuery.parse(request.query)
    return show(request, reply, { call, expect, example: example !== undefined })
  })

  app.post<InterfaceRoute>('/play/:name', async (request, reply) => {
    const name = nameOf(request)
    const read = writtenForm.safeParse(request.body ?? {})
    const t = textsFor(request)
    if (!read.success) return show(request, reply.code(400), {}, t('sandbox.play.problem_form'))
    const partner = await existingPartner(deps, partnerOf(request).partnerId)
    const sent = await sendWritten(deps, partner, name, read.data)
    if ('callId' in sent) {
      return seeOther(reply, resultPage(name, sent.callId, read.data.expect))
    }
    const isAboutOrder = sent.kind === 'sold-order' || sent.kind === 'unknown-order'
    return show(request, reply.code(isAboutOrder ? 409 : 400), { typed: read.data }, problemText(sent, t))
  })
}

/** The playground for orders: the platform's own operations create, pay, query, refund and close them. */
export const playOrderRoutes: FastifyPluginAsync<{ deps: RunDeps }> = async (app, { deps }) => {
  const showOrder = async (request: FastifyRequest, reply: FastifyReply, orderId: bigint, alert = '') => {
    const order = await requireTrialOrder(deps, partnerOf(request).partnerId, orderId)
    const { quantity: refunds = '1' } = asTyped.parse(request.body ?? {})
    const shown = { order: orderForPage(order, localeOfRequest(request)), alert, refunds }
    return sendSandboxPage(request, reply, 'sandbox/play-order', shown, PLAY_PAGE)
  }

  const redirectToResult = (reply: FastifyReply, { name, expectedOutcome, callId }: OrderCall, instead: string) =>
    seeOther(reply, callId === undefined ? instead : resultPage(name, callId, expectedOutcome))

  app.post('/play/orders', async (request, reply) => {
    const partner = await existingPartner(deps, partnerOf(request).partnerId)
    const read = playOrderForm.safeParse(request.body ?? {})
    const again = async (problems: readonly (typeof PLAY_ORDER_FIELDS)[number][], alert = '') => {
      const typed = { values: asTyped.parse(request.body), problems }
      const page = await playPage(deps, partner, localeOfRequest(request), typed)
      return sendSandboxPage(request, reply.code(400), 'sandbox/play', { page, alert }, PLAY_PAGE)
    }
    if (!read.success) {
      const wrong = new Set(read.error.issues.map(({ path }) => path[0]))
      const fields = PLAY_ORDER_FIELDS.filter((field) => wrong.has(field))
      return again(fields)
    }
    try {
      return redirectToResult(reply, await makeOrder(deps, partner, read.data), PLAY)
    } catch (error) {
      if (!(error instanceof InvalidInput)) throw error
      const t = textsFor(request)
      const isUnknown = error.problems.some(({ field }) => field === 'mt_deal_id')
      if (isUnknown) return again(['product'], t('sandbox.play.product_unknown'))
      return again(['unit_price', 'buy_price'], t('sandbox.play.price_unknown'))
    }
  })

  app.get('/play/orders/:order_id', async (request, reply) => {
    return showOrder(request, reply, paramsOf(request, orderParams, noSuchEntry).order_id)
  })

  app.post('/play/orders/:order_id/:action', async (request, reply) => {
    const { order_id: orderId, action } = paramsOf(request, playActionParams, noSuchEntry)
    const { partnerId } = partnerOf(request)
    const given = refundForm.safeParse(request.body ?? {})
    if (action === 'refund' && !given.success) {
      return showOrder(request, reply.code(400), orderId, textsFor(request)('sandbox.play.problem_refund'))
    }
    const quantity = given.success ? given.data.quantity : 1
    try {
      const partner = await existingPartner(deps, partnerId)
      const done = await actOnOrder(deps, partner, { orderId, action, quantity })
      if ('kind' in done) return showOrder(request, reply.code(409), orderId, problemText(done, textsFor(request)))
      return redirectToResult(reply, done, `${PLAY}/orders/${orderId}`)
    } catch (error) {
      if (!(error instanceof RefusedRequest || error instanceof InvalidInput)) throw error
      return showOrder(request, reply.code(409), orderId, textsFor(request)('sandbox.play.not_now'))
    }
  })
}
