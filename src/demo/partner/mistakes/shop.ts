import { refuse } from '../answer.ts'
import type { Problem } from '../guard.ts'
import { findOrder } from '../order/issue.ts'
import { isClosed } from '../order/order.ts'
import type { Shop } from '../shop.ts'
import type { DemoMistake, Switches } from './mistakes.ts'

const OVERLOOKED: Readonly<Record<Problem, DemoMistake>> = {
  signature: 'wrong-signature-accepted',
  date: 'stale-date-accepted',
  client: 'unknown-client-accepted',
}

/** Which problems of a signature are overlooked. */
export const overlooking =
  (switches: Switches) =>
  (problem: Problem): boolean =>
    switches.has(OVERLOOKED[problem])

/** What a request is about. */
export interface Subject {
  readonly orderId: bigint
  readonly refundId: string
  readonly partnerDealId: string
}

/** Undoes what would outlast the request, so that the shop behaves correctly afterwards. */
export type Repair = () => void

interface Sabotage {
  readonly path: string
  /** Alters the state of the shop just before it handles a request, so that its own code does the wrong thing. */
  damage(shop: Shop, subject: Subject): Repair | undefined
}

const nothingToRepair = undefined

const SABOTAGE: Readonly<Partial<Record<DemoMistake, Sabotage>>> = {
  'order-create-not-idempotent': {
    path: '/order/create',
    damage: (shop, { orderId }) => {
      shop.orders.delete(orderId)
      return nothingToRepair
    },
  },
  'out-of-stock-sold': {
    path: '/order/create',
    damage: (shop, { partnerDealId }) => {
      const product = shop.products.get(partnerDealId)
      if (!product) return nothingToRepair
      shop.products.set(partnerDealId, { ...product, stock: -1 })
      return () => shop.products.set(partnerDealId, product)
    },
  },
  'close-twice-fails': {
    path: '/order/close',
    damage: (shop, { orderId }) => {
      const order = shop.orders.get(orderId)
      return order && isClosed(order) ? refuse(300, 'the order is closed already') : nothingToRepair
    },
  },
  'pay-again-issues-again': {
    path: '/order/pay',
    damage: (shop, { orderId }) => {
      const order = shop.orders.get(orderId)
      if (order?.state === 'issued') order.state = 'created'
      return nothingToRepair
    },
  },
  'query-forgets-paid-order': {
    path: '/order/query',
    damage: (shop, { orderId }) => {
      const state = findOrder(shop, orderId)?.state
      return state === 'paying' || state === 'issued' ? refuse(301, `no order ${orderId}`) : nothingToRepair
    },
  },
  'refund-twice-refunds-twice': {
    path: '/order/refund',
    damage: (shop, { refundId }) => {
      const known = shop.refunds.get(refundId)
      shop.refunds.delete(refundId)
      // Others are taken for those that were given back, so the same can be given back again.
      for (const given of known?.tickets ?? []) {
        const other = known?.order.tickets.find(({ state }) => state === 'unused')
        if (other) [given.state, other.state] = [other.state, given.state]
      }
      return nothingToRepair
    },
  },
}

/** Alters the shop for all switched-on mistakes of this interface. */
export function sabotage(switches: Switches, shop: Shop, path: string, subject: Subject): Repair[] {
  return [...switches].flatMap((mistake) => {
    const found = SABOTAGE[mistake]
    return (found?.path === path && found.damage(shop, subject)) || []
  })
}
