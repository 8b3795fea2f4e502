import type { FastifyInstance } from 'fastify'
import { type Fields, has, int64, text } from '../fields.ts'
import { readJson } from '../json.ts'
import type { Shop } from '../shop.ts'
import { spoil } from './answers.ts'
import type { Switches } from './mistakes.ts'
import { sabotage } from './shop.ts'

/** Lets the interfaces of this plugin make the mistakes that are switched on, without a line in the honest code. */
export function makeMistakes(app: FastifyInstance, shop: Shop, switches: Switches): void {
  app.addHook('preHandler', async (request) => {
    if (switches.size === 0) return
    const { body } = readJson(String(request.body)) as { body?: Fields }
    sabotage(switches, shop, request.routeOptions.url ?? '', {
      orderId: body && has(body, 'orderId') ? int64(body, 'orderId') : 0n,
      refundId: body && has(body, 'refundId') ? text(body, 'refundId') : '',
      partnerDealId: body && has(body, 'partnerDealId') ? text(body, 'partnerDealId') : '',
    })
  })
  app.addHook('onSend', async (request, reply, payload) => {
    if (switches.size === 0 || typeof payload !== 'string') return payload
    return spoil(switches, request.routeOptions.url ?? '', payload, reply)
  })
}
