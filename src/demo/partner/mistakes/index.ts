import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type Fields, has, int64, text } from '../fields.ts'
import { readJson } from '../json.ts'
import type { Settings } from '../settings.ts'
import type { Shop } from '../shop.ts'
import { spoil } from './answers.ts'
import type { Switches } from './mistakes.ts'
import { type Repair, type Subject, sabotage } from './shop.ts'

/**
 * Lets the interfaces of this plugin make the mistakes that are switched on, without a line in the correct code. The
 * first two hooks have callbacks and not promises: so nothing comes in between damage, handler and repair.
 */
export function makeMistakes(
  app: FastifyInstance,
  { clientSecret }: Pick<Settings, 'clientSecret'>,
  shop: Shop,
  switches: Switches,
): void {
  const repairs = new WeakMap<FastifyRequest, readonly Repair[]>()
  app.addHook('preHandler', (request, _reply, done) => {
    if (switches.size === 0) return done()
    try {
      repairs.set(request, sabotage(switches, shop, request.routeOptions.url ?? '', subjectOf(request.body)))
      done()
    } catch (error) {
      done(error as Error)
    }
  })
  app.addHook('onSend', (request, _reply, payload, done) => {
    for (const repair of repairs.get(request) ?? []) repair()
    done(null, payload)
  })
  app.addHook('onSend', async (request, reply, payload) => {
    if (switches.size === 0 || typeof payload !== 'string') return payload
    const { authorization = '' } = request.headers
    return spoil(switches, payload, { path: request.routeOptions.url ?? '', reply, authorization, clientSecret })
  })
}

/** What the shop itself will refuse needs no handling here. */
function subjectOf(bytes: unknown): Subject {
  try {
    const { body } = readJson(String(bytes)) as { body?: Fields }
    return {
      orderId: body && has(body, 'orderId') ? int64(body, 'orderId') : 0n,
      refundId: body && has(body, 'refundId') ? text(body, 'refundId') : '',
      partnerDealId: body && has(body, 'partnerDealId') ? text(body, 'partnerDealId') : '',
    }
  } catch {
    return { orderId: 0n, refundId: '', partnerDealId: '' }
  }
}
