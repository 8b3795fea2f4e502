import type { FastifyInstance, FastifyReply } from 'fastify'
import { Refusal } from '../answer.ts'
import { type Fields, fieldsOf, whole } from '../fields.ts'
import { readJson, writeJson } from '../json.ts'
import type { Switches } from '../mistakes/mistakes.ts'
import type { Notice } from '../outbox.ts'
import type { Shop } from '../shop.ts'
import { consume, decideRefund } from './order.ts'
import { addProduct, changeProduct } from './product.ts'
import { describeNotice, describeShop } from './state.ts'
import { describeMistakes, switchMistakes } from './switches.ts'

/**
 * What people do in a real shop (a visitor at the gate, a clerk who decides on a refund), as a small local API for the
 * demo and for tests. It asks for no password, so it must not be reachable from outside.
 *
 * POST with a JSON body; 200 with JSON, or 400 with `{"error"}`. Those that send notices answer after the first
 * attempt, with the notice and what the platform said; it is sent again until it is acknowledged.
 *
 *   GET  /control/state                                  products, orders, refunds, notices, deposit
 *   POST /control/consume        {orderId, quantity}     that many more tickets are used
 *   POST /control/decide-refund  {refundId, approve, reason?}
 *   POST /control/change-product {partnerDealId, title?, onSale?, stock?, marketPrice?, mtPrice?, settlementPrice?}
 *                                                        one notice for each kind of change
 *   POST /control/add-product    {partnerDealId, title}  a new one, like DEMO-BOAT
 *   POST /control/deposit        {cents}                 what has been paid in
 *   GET  /control/mistakes                               all that can be switched on, and what is
 *   POST /control/mistakes       {mistakes: […]}         these and no others
 */
export function registerControl(app: FastifyInstance, shop: Shop, switches: Switches): void {
  const send = (reply: FastifyReply, answer: object) =>
    reply.type('application/json; charset=utf-8').send(writeJson(answer))

  const action = (path: string, act: (input: Fields) => object | Promise<object>): void => {
    app.post(path, async (request, reply) => send(reply, await act(inputOf(request.body))))
  }
  const notices = (act: (shop: Shop, input: Fields) => Notice[]) => async (input: Fields) => {
    const sent = act(shop, input)
    await Promise.all(sent.map((notice) => notice.firstAttempt))
    return { notices: sent.map(describeNotice) }
  }

  app.get('/state', (_request, reply) => send(reply, describeShop(shop)))
  action('/consume', notices(consume))
  action('/decide-refund', notices(decideRefund))
  action('/change-product', notices(changeProduct))
  action('/add-product', notices(addProduct))
  action('/deposit', (input) => {
    shop.paidIn = whole(input, 'cents')
    return { cents: shop.paidIn }
  })
  app.get('/mistakes', (_request, reply) => send(reply, describeMistakes(switches)))
  action('/mistakes', (input) => switchMistakes(switches, input))

  app.setErrorHandler((error, _request, reply) => {
    if (!(error instanceof Refusal || error instanceof SyntaxError)) throw error
    return send(reply.code(400), { error: error.message })
  })
}

const inputOf = (bytes: unknown): Fields => fieldsOf(readJson(String(bytes)), 'the request')
