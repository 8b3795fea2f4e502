import type { Offer } from '../catalogue/offers.ts'
import type { Product } from '../catalogue/product.ts'
import type { Fields } from '../fields.ts'

/** An order of the platform in this shop. */
export interface Order {
  /** The platform's id, a 64-bit integer. */
  readonly orderId: bigint
  /** Our id. */
  readonly partnerOrderId: string
  /** As it was when it was ordered: a later change does not touch what is sold. */
  readonly product: Product
  offer: Offer
  readonly quantity: number
  readonly visitors: readonly Fields[]
  state: 'created' | 'paying' | 'issued' | 'create failed' | 'pay failed'
  /** While paying: when the tickets will be there, in milliseconds since 1970. */
  issuesAt: number
  /** Empty until they are issued. */
  tickets: readonly Ticket[]
  /** Numbers of the reschedulings that are done. */
  readonly rescheduled: Set<string>
}

/** One ticket is one person's entrance; a voucher code may open several. */
export interface Ticket {
  /** None where the id card opens the gate. */
  readonly voucher?: string
  readonly credential?: Credential
  /** Held: a refund is under review, so nobody may enter with it meanwhile. */
  state: 'unused' | 'held' | 'used' | 'refunded'
}

/** credentialType: 0 ID card, 1 passport, 2 military officer ID, 3 Taiwan compatriot permit, 4 HK/Macau pass, 5 mainland permit. */
export interface Credential {
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

/** An order that failed or was closed holds no stock and can never be paid. */
export const isClosed = ({ state }: Order): boolean => state === 'create failed' || state === 'pay failed'
