import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { InvalidInput } from '../../../platform/lib/json/input.ts'
import { NO_STORE_HEADERS } from '../../../platform/lib/web/envelope.ts'
import { translator } from '../../../platform/lib/web/locale.ts'
import { localeOfRequest } from '../../../platform/lib/web/page.ts'
import { RefusedRequest } from '../../../platform/lib/web/rescode.ts'
import { existingPartner } from '../../../ticketing/partner-calls/index.ts'
import type { RunDeps } from '../../certification/index.ts'
import { noSuchEntry } from '../errors.ts'
import { partnerOf, sendSandboxPage } from '../guard.ts'
import { asTyped } from '../wire.ts'
import { actOnOrder, makeOrder, type Operated, requireTrialOrder } from './orders.ts'
import { orderForPage, playPage } from './page.ts'
import { PLAY, PLAY_PAGE, resultPage } from './routes.ts'
import { problemText } from './texts.ts'
import { PLAY_ORDER_FIELDS, playActionParams, playOrderForm, playOrderParams, refundForm } from './wire.ts'

/** The playground, by the platform's own operations: orders are made, paid, queried, refunded and closed. */
export const playOrderRoutes: FastifyPluginAsync<{ deps: RunDeps }> = async (app, { deps }) => {
  const textsOf = (request: FastifyRequest) => translator(localeOfRequest(request))

  const showOrder = async (request: FastifyRequest, reply: FastifyReply, orderId: bigint, alert = '') => {
    const order = await requireTrialOrder(deps, partnerOf(request).partnerId, orderId)
    const shown = { order: orderForPage(order, localeOfRequest(request)), alert }
    return sendSandboxPage(request, reply, 'sandbox/play-order', shown, PLAY_PAGE)
  }

  const redirectToResult = (reply: FastifyReply, { name, expectedOutcome, callId }: Operated, instead: string) =>
    reply
      .headers(NO_STORE_HEADERS)
      .redirect(callId === undefined ? instead : resultPage(name, callId, expectedOutcome), 303)

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
      const t = textsOf(request)
      const isUnknown = error.problems.some(({ field }) => field === 'mt_deal_id')
      if (isUnknown) return again(['product'], t('sandbox.play.product_unknown'))
      return again(['unit_price', 'buy_price'], t('sandbox.play.price_unknown'))
    }
  })

  app.get('/play/orders/:order_id', async (request, reply) => {
    const params = playOrderParams.safeParse(request.params)
    if (!params.success) throw noSuchEntry()
    return showOrder(request, reply, params.data.order_id)
  })

  app.post('/play/orders/:order_id/:action', async (request, reply) => {
    const params = playActionParams.safeParse(request.params)
    if (!params.success) throw noSuchEntry()
    const { order_id: orderId, action } = params.data
    const { partnerId } = partnerOf(request)
    const given = refundForm.safeParse(request.body ?? {})
    if (action === 'refund' && !given.success) {
      return showOrder(request, reply.code(400), orderId, textsOf(request)('sandbox.play.problem_refund'))
    }
    const quantity = given.success ? given.data.quantity : 1
    try {
      const partner = await existingPartner(deps, partnerId)
      const done = await actOnOrder(deps, partner, { orderId, action, quantity })
      if ('kind' in done) return showOrder(request, reply.code(409), orderId, problemText(done, textsOf(request)))
      return redirectToResult(reply, done, `${PLAY}/orders/${orderId}`)
    } catch (error) {
      if (!(error instanceof RefusedRequest || error instanceof InvalidInput)) throw error
      return showOrder(request, reply.code(409), orderId, textsOf(request)('sandbox.play.not_now'))
    }
  })
}
