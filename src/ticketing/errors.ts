import { echo, type Failure, RescodeError } from '../lib/rescode.ts'
import { ORDER_STATES, type OrderState, REFUND_STATES, type RefundState } from './states.ts'

/**
 * What a partner or an operator asked for is refused. `describe` is the sentence that goes out: in a notice's answer
 * (code 300), over /admin/v1 (20007) and on the command line.
 */
export class TicketingRefusal extends RescodeError {
  readonly describe: string

  constructor(describe: string, failure: Failure = {}) {
    super(20007, { ...failure, what: describe })
    this.describe = describe
  }
}

export const noSuchOrder = (orderId: bigint): TicketingRefusal =>
  new TicketingRefusal(`order ${orderId} does not exist`, { status: 404 })

export const noSuchRefund = (refundId: string): TicketingRefusal =>
  new TicketingRefusal(`refund ${echo(refundId)} does not exist`, { status: 404 })

export const noSuchPartner = (partnerId: bigint): TicketingRefusal =>
  new TicketingRefusal(`partner ${partnerId} does not exist`, { status: 404 })

export const noSuchProduct = (partnerDealId: string): TicketingRefusal =>
  new TicketingRefusal(`product ${echo(partnerDealId)} does not exist`, { status: 404 })

/** A transition that src/ticketing/states.ts does not have, by the names of both states. */
export const illegalOrderMove = (orderId: bigint, from: OrderState, to: OrderState): TicketingRefusal =>
  new TicketingRefusal(`order ${orderId} is ${from} (${ORDER_STATES[from].means}); it cannot become ${to}`)

export const illegalRefundMove = (refundId: string, from: RefundState, to: RefundState): TicketingRefusal =>
  new TicketingRefusal(`refund ${echo(refundId)} is ${from} (${REFUND_STATES[from].means}); it cannot become ${to}`)
