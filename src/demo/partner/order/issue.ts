import { randomInt } from 'node:crypto'
import { refuse } from '../answer.ts'
import { type Fields, fieldsOf, int64 } from '../fields.ts'
import type { Shop } from '../shop.ts'
import type { Credential, Order, Ticket } from './order.ts'

/** Twelve digits that nobody can guess; a voucher is worth money. */
const newVoucher = (): string => String(randomInt(10 ** 11, 10 ** 12))

/** The visitor's first document: `credentials` is number by type. */
function credentialOf(order: Order, at: number): Credential | undefined {
  const credentials = fieldsOf(order.visitors[at]?.credentials ?? {}, 'credentials')
  const [first] = Object.entries(credentials)
  return first && { credentialType: Number(first[0]), credentialNo: String(first[1]) }
}

/** Makes the tickets of a paid order. */
export function issue(order: Order): void {
  const shared = newVoucher()
  const { vouchers } = order.product
  order.tickets = Array.from({ length: order.quantity }, (_, at): Ticket => {
    const credential = credentialOf(order, at)
    const voucher = vouchers === 'one an order' ? shared : newVoucher()
    return {
      state: 'unused',
      ...(vouchers === 'none' ? {} : { voucher }),
      ...(credential ? { credential } : {}),
    }
  })
  order.state = 'issued'
}

/** The order with this id as it stands now, or undefined. */
export function findOrder(shop: Shop, orderId: bigint): Order | undefined {
  const order = shop.orders.get(orderId)
  // Instead of another system that reports the tickets when it has made them.
  if (order?.state === 'paying' && order.issuesAt <= shop.now().getTime()) issue(order)
  return order
}

/** The order that a request is about; `code` is the interface's code for an order that is not here. */
export function orderOf(shop: Shop, body: Fields, code: number): Order {
  const orderId = int64(body, 'orderId')
  return findOrder(shop, orderId) ?? refuse(code, `no order ${orderId}`)
}
