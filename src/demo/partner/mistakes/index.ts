import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type Delivery, type Settings, signedDelivery } from '../outbox.ts'
import { findOrder, isClosed, type Shop } from '../shop.ts'
import type { Problem } from '../signature.ts'
import { type Fields, has, int64, readJson, refuse, text, writeJson } from '../wire.ts'
import { inBody, type Json, rounded, spoil, without } from './answers.ts'
import type { DemoMistake, Switches } from './mistakes.ts'

const OVERLOOKED: Readonly<Record<Problem, DemoMistake>> = {
  signature: 'wrong-signature-accepted',
  date: 'stale-date-accepted',
  client: 'unknown-client-accepted',
}

/** Whether a problem of a signature is overlooked. */
export const overlooking =
  (switches: Switches) =>
  (problem: Problem): boolean =>
    switches.has(OVERLOOKED[problem])

/** What a request is about. */
interface Subject {
  readonly orderId: bigint
  readonly refundId: string
  readonly partnerDealId: string
}

/** Undoes damage that would outlast the request. */
type Repair = () => void

interface Sabotage {
  readonly path: string
  /** Alters the shop's state just before it handles a request, so that its own code does the wrong thing. */
  damage(shop: Shop, subject: Subject): Repair | undefined
}

const SABOTAGE: Readonly<Partial<Record<DemoMistake, Sabotage>>> = {
  'order-create-not-idempotent': {
    path: '/order/create',
    damage: (shop, { orderId }) => void shop.orders.delete(orderId),
  },
  'out-of-stock-sold': {
    path: '/order/create',
    damage: (shop, { partnerDealId }) => {
      const product = shop.products.get(partnerDealId)
      if (!product) return undefined
      shop.products.set(partnerDealId, { ...product, stock: -1 })
      return () => shop.products.set(partnerDealId, product)
    },
  },
  'close-twice-fails': {
    path: '/order/close',
    damage: (shop, { orderId }) => {
      const order = shop.orders.get(orderId)
      return order && isClosed(order) ? refuse(300, 'the order is closed already') : undefined
    },
  },
  'pay-again-issues-again': {
    path: '/order/pay',
    damage: (shop, { orderId }) => {
      const order = shop.orders.get(orderId)
      if (order?.state === 'issued') order.state = 'created'
      return undefined
    },
  },
  'query-forgets-paid-order': {
    path: '/order/query',
    damage: (shop, { orderId }) => {
      const state = findOrder(shop, orderId)?.state
      return state === 'paying' || state === 'issued' ? refuse(301, `no order ${orderId}`) : undefined
    },
  },
  'refund-twice-refunds-twice': {
    path: '/order/refund',
    damage: (shop, { refundId }) => {
      const known = shop.refunds.get(refundId)
      shop.refunds.delete(refundId)
      // Swaps the refunded tickets with unused ones, so that the same ones can be refunded again.
      for (const given of known?.tickets ?? []) {
        const other = known?.order.tickets.find(({ state }) => state === 'unused')
        if (other) [given.state, other.state] = [other.state, given.state]
      }
      return undefined
    },
  },
}

/** Applies all switched-on mistakes of this interface to the shop. */
function sabotage(switches: Switches, shop: Shop, path: string, subject: Subject): Repair[] {
  return [...switches].flatMap((mistake) => {
    const found = SABOTAGE[mistake]
    return (found?.path === path && found.damage(shop, subject)) || []
  })
}

const EIGHT_HOURS_MS = 8 * 60 * 60 * 1000

/** A delivery that makes the switched-on mistakes. */
export const mistakenDelivery =
  (settings: Settings, switches: Switches): Delivery =>
  async (path, honest, signal) => {
    if (switches.has('notice-not-sent')) return { code: undefined, describe: 'not sent, by mistake' }
    const text = switches.size > 0 ? spoilt(switches, honest) : honest
    const deliver = signedDelivery({
      ...settings,
      ...(switches.has('notice-wrong-signature') ? { clientSecret: `${settings.clientSecret}x` } : {}),
      ...(switches.has('notice-local-time') ? { now: () => inBeijing(settings.now()) } : {}),
    })
    const again = switches.has('notice-sent-twice') ? [deliver(path, text, signal)] : []
    const [reply] = await Promise.all([deliver(path, text, signal), ...again])
    return reply
  }

/** Required fields in the body of notices. */
const REQUIRED = ['usedQuantity', 'refundId', 'status']

function spoilt(switches: Switches, text: string): string {
  let message = readJson(text) as Json
  if (switches.has('notice-missing-field')) {
    message = inBody(without(message, 'issueType'), (entry) => REQUIRED.reduce(without, entry))
  }
  if (switches.has('pay-notice-code-missing')) {
    message = inBody(message, (entry) =>
      Array.isArray(entry.vouchers) ? { ...entry, vouchers: entry.vouchers.slice(1) } : entry,
    )
  }
  if (switches.has('notice-rounded-order-id')) {
    message = inBody(message, (entry) =>
      typeof entry.orderId === 'bigint' ? { ...entry, orderId: rounded(entry.orderId) } : entry,
    )
  }
  return writeJson(message)
}

function inBeijing(now: Date): Date {
  const at = structuredClone(now)
  at.setTime(at.getTime() + EIGHT_HOURS_MS)
  return at
}

/**
 * Makes this plugin's interfaces commit the switched-on mistakes. The first two hooks use callbacks, not promises, so
 * that nothing can run between damage, handler and repair.
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

/** Ignores malformed requests, which the shop refuses itself. */
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
