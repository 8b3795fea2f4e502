import { randomInt } from 'node:crypto'
import { parseInput } from '../../src/platform/lib/json/input.ts'
import { closeOrder } from '../../src/ticketing/orders/close-order.ts'
import { createOrder } from '../../src/ticketing/orders/create-order.ts'
import { payOrder } from '../../src/ticketing/orders/pay-order.ts'
import { queryOrder } from '../../src/ticketing/orders/query-order.ts'
import { refundOrder } from '../../src/ticketing/orders/refund-order.ts'
import { newOrder, newRefund } from '../../src/ticketing/orders/wire.ts'
import { BY_COMMAND } from '../../src/ticketing/partner-calls/index.ts'
import type { World } from '../harness.ts'
import { ok } from '../partner-calls/fake-seller.ts'

export const newId = (): bigint => 8_985_652_356_562_000_000n + BigInt(randomInt(2 ** 40))

const MINIMAL = {
  partner_id: 7001,
  partner_deal_id: 'deal-1',
  quantity: 2,
  mt_deal_id: 1,
  unit_price: 100,
  buy_price: 80,
}

/** Shorthands for what an operator does with orders. */
export const desk = (world: World) => ({
  create: (orderId: bigint, fields: object = {}) =>
    createOrder(world.deps, parseInput(newOrder, { ...MINIMAL, order_id: orderId, ...fields }), BY_COMMAND),
  pay: (orderId: bigint) => payOrder(world.deps, orderId, BY_COMMAND),
  query: (orderId: bigint) => queryOrder(world.deps, orderId, BY_COMMAND),
  close: (orderId: bigint) => closeOrder(world.deps, orderId, BY_COMMAND),
  refund: (orderId: bigint, refundId: string, fields: object = {}) =>
    refundOrder(world.deps, parseInput(newRefund, { order_id: orderId, refund_id: refundId, ...fields }), BY_COMMAND),
  /** An order that is created and paid. */
  async paid(fields: object = {}): Promise<bigint> {
    const orderId = newId()
    await this.create(orderId, fields)
    await this.pay(orderId)
    return orderId
  },
})

/** An answer to order query. */
export const stands = (orderId: bigint, orderStatus: number, more: object = {}) =>
  ok({ orderId, orderStatus, orderQuantity: 2, usedQuantity: 0, refundedQuantity: 0, ...more })
