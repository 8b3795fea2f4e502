import { randomInt } from 'node:crypto'
import { ASSORTMENT } from './assortment.ts'
import type { Outbox } from './outbox.ts'
import type { Offer, Product } from './product.ts'
import { type Fields, fieldsOf, int64, refuse, text } from './wire.ts'

/** An order of the platform in this shop. */
export interface Order {
  /** The platform's id, a 64-bit integer. */
  readonly orderId: bigint
  /** Our id. */
  readonly partnerOrderId: string
  /** As it was when ordered: later changes do not affect it. */
  readonly product: Product
  offer: Offer
  readonly quantity: number
  readonly visitors: readonly Fields[]
  state: 'created' | 'paying' | 'issued' | 'create failed' | 'pay failed'
  /** While paying: when the tickets will be ready, in milliseconds since 1970. */
  issuesAt: number
  /** Empty until they are issued. */
  tickets: readonly Ticket[]
  /** The rescheduleNos that have been carried out. */
  readonly rescheduled: Set<string>
}

/** A ticket admits one person; a voucher code may cover several tickets. */
export interface Ticket {
  /** Absent if the ID card opens the gate. */
  readonly voucher?: string
  readonly credential?: Credential
  /** `held`: a refund is under review, so nobody may enter with it. */
  state: 'unused' | 'held' | 'used' | 'refunded'
}

/** credentialType: 0 ID card, 1 passport, 2 military officer ID, 3 Taiwan compatriot permit, 4 HK/Macau pass, 5 mainland permit. */
interface Credential {
  readonly credentialType: number
  readonly credentialNo: string
}

/** A refund that the platform has asked for. */
export interface Refund {
  /** The platform's serial. */
  readonly refundId: string
  readonly order: Order
  readonly tickets: readonly Ticket[]
  state: 'reviewing' | 'refunded' | 'refused'
  reason: string
  readonly requestedAt: Date
  decidedAt?: Date
}

export const VOUCHER_TYPE = { none: 0, 'one a ticket': 1, 'one an order': 2 } as const

export const ticketsThatAre = (order: Order, state: Ticket['state']): Ticket[] =>
  order.tickets.filter((ticket) => ticket.state === state)

/** Cumulative totals: a late or lost notice does no harm, because the next one has them too. */
export const quantitiesOf = (order: Order) => ({
  usedQuantity: ticketsThatAre(order, 'used').length,
  refundedQuantity: ticketsThatAre(order, 'refunded').length,
})

/** An order that failed or was closed holds no stock and can never be paid. */
export const isClosed = ({ state }: Order): boolean => state === 'create failed' || state === 'pay failed'

/**
 * The state of the shop. It is kept in memory and each request is handled synchronously, so nothing can interfere. With
 * a database, use one transaction for each function here, and lock the order first.
 */
export interface Shop {
  readonly now: () => Date
  readonly outbox: Outbox
  readonly products: Map<string, Product>
  /** By the platform's order id, which makes order create idempotent. */
  readonly orders: Map<bigint, Order>
  /** Orders that were closed before their create arrived. */
  readonly closedUnseen: Set<bigint>
  /** By the platform's refund id, which makes refunds idempotent. */
  readonly refunds: Map<string, Refund>
  /** The platform's view of our products. */
  readonly platformStatus: Map<string, number>
  /** Our deposit in cents. */
  paidIn: number
}

export const openShop = (now: () => Date, outbox: Outbox): Shop => ({
  now,
  outbox,
  products: new Map(ASSORTMENT.map((product) => [product.partnerDealId, product])),
  orders: new Map(),
  closedUnseen: new Set(),
  refunds: new Map(),
  platformStatus: new Map(),
  paidIn: 100_000_000,
})

/** Twelve unpredictable digits: a voucher is worth money. */
const newVoucher = (): string => String(randomInt(10 ** 11, 10 ** 12))

/** The visitor's first document; `credentials` holds numbers by type. */
function credentialOf(order: Order, at: number): Credential | undefined {
  const credentials = fieldsOf(order.visitors[at]?.credentials ?? {}, 'credentials')
  const [first] = Object.entries(credentials)
  return first && { credentialType: Number(first[0]), credentialNo: String(first[1]) }
}

/** Issues the tickets of a paid order. */
export function issue(order: Order): void {
  const shared = newVoucher()
  const { vouchers } = order.product
  order.tickets = Array.from({ length: order.quantity }, (_, at): Ticket => {
    const credential = credentialOf(order, at)
    const voucher = vouchers === 'one an order' ? shared : newVoucher()
    return { state: 'unused', ...(vouchers === 'none' ? {} : { voucher }), ...(credential ? { credential } : {}) }
  })
  order.state = 'issued'
}

/** The order with this id as it stands now, or undefined. */
export function findOrder(shop: Shop, orderId: bigint): Order | undefined {
  const order = shop.orders.get(orderId)
  // Stands in for another system that reports when the tickets are ready.
  if (order?.state === 'paying' && order.issuesAt <= shop.now().getTime()) issue(order)
  return order
}

/** The order of a request; `code` is the interface's code for an unknown order. */
export function orderOf(shop: Shop, body: Fields, code: number): Order {
  const orderId = int64(body, 'orderId')
  return findOrder(shop, orderId) ?? refuse(code, `no order ${orderId}`)
}

/** The product of a request; `code` is the interface's code for an unknown product. */
export function productOf(shop: Shop, body: Fields, code: number): Product {
  const id = text(body, 'partnerDealId')
  return shop.products.get(id) ?? refuse(code, `no product ${id}`)
}

const UNLIMITED = -1

/**
 * What is left of an offer; -1 is unlimited. Counted from the orders, so that it always agrees with them: an order
 * holds its tickets from create until it is closed, and a refund gives them back.
 */
export function stockLeft(shop: Shop, product: Product, offer: Offer): number {
  if (product.stock === UNLIMITED) return UNLIMITED
  let left = product.stock
  for (const order of shop.orders.values()) {
    const sameOffer = order.product.partnerDealId === product.partnerDealId && order.offer.key === offer.key
    if (sameOffer && !isClosed(order)) left -= order.quantity - ticketsThatAre(order, 'refunded').length
  }
  return Math.max(0, left)
}

export function isEnough(shop: Shop, product: Product, offer: Offer, quantity: number): boolean {
  const left = stockLeft(shop, product, offer)
  return left === UNLIMITED || left >= quantity
}

/** What an order costs the deposit, in cents: nothing before its tickets are issued, less after refunds. */
const costOf = (order: Order): number =>
  isClosed(order) ? 0 : order.tickets.filter(({ state }) => state !== 'refunded').length * order.offer.prices.settlement

/** What is left of the money paid in, in cents. */
export function deposit(shop: Shop): number {
  let left = shop.paidIn
  for (const order of shop.orders.values()) left -= costOf(order)
  return left
}

const STATUS = { unused: 0, used: 1, refunded: 2, void: 3 } as const

/** A voucher with several tickets counts as unused while one of them can still be used. */
function statusOf(order: Order, tickets: readonly Ticket[]): number {
  if (isClosed(order)) return STATUS.void
  if (tickets.some(({ state }) => state === 'unused' || state === 'held')) return STATUS.unused
  return tickets.some(({ state }) => state === 'used') ? STATUS.used : STATUS.refunded
}

export const voucherCodes = ({ tickets }: Order): string[] => [
  ...new Set(tickets.flatMap(({ voucher }) => voucher ?? [])),
]

/** `voucherList` of the order query and the consumption notice. */
export const voucherList = (order: Order): object[] =>
  voucherCodes(order).map((voucher) => {
    const tickets = order.tickets.filter((ticket) => ticket.voucher === voucher)
    return {
      voucher,
      voucherInvalidTime: `${order.offer.date ?? order.product.entry.voucherDateEnd} 23:59:59`,
      quantity: tickets.length,
      status: statusOf(order, tickets),
    }
  })

/** `credentialList` of real-name orders: which document opens the gate, and whether it has been used. */
export const credentialList = (order: Order): object[] =>
  order.tickets.flatMap((ticket) =>
    ticket.credential
      ? [{ ...ticket.credential, voucher: ticket.voucher ?? '', status: statusOf(order, [ticket]) }]
      : [],
  )

/** The tickets of an order: the body of the pay answer and of the pay notice. */
export const issuedTickets = (order: Order): object => ({
  orderId: order.orderId,
  partnerOrderId: order.partnerOrderId,
  voucherType: VOUCHER_TYPE[order.product.vouchers],
  vouchers: voucherCodes(order),
  voucherPics: [],
  realNameType: order.product.entry.visitorInfoType === 3 ? 1 : 0,
  credentialList: credentialList(order),
})
