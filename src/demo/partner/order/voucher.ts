import { isClosed, type Order, type Ticket, VOUCHER_TYPE } from './order.ts'

const STATUS = { unused: 0, used: 1, refunded: 2, void: 3 } as const

/** A voucher with several tickets is unused as long as one of them can still be used. */
function statusOf(order: Order, tickets: readonly Ticket[]): number {
  if (isClosed(order)) return STATUS.void
  if (tickets.some(({ state }) => state === 'unused' || state === 'held')) return STATUS.unused
  return tickets.some(({ state }) => state === 'used') ? STATUS.used : STATUS.refunded
}

/** The codes of an order, each once. */
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

/** `credentialList` of orders with real names: which document opens the gate, and how far it has been used. */
export const credentialList = (order: Order): object[] =>
  order.tickets.flatMap((ticket) =>
    ticket.credential
      ? [{ ...ticket.credential, voucher: ticket.voucher ?? '', status: statusOf(order, [ticket]) }]
      : [],
  )

/** The tickets of an order: the body of a pay answer, and of a pay notice. */
export const issuedTickets = (order: Order): object => ({
  orderId: order.orderId,
  partnerOrderId: order.partnerOrderId,
  voucherType: VOUCHER_TYPE[order.product.vouchers],
  vouchers: voucherCodes(order),
  voucherPics: [],
  realNameType: order.product.entry.visitorInfoType === 3 ? 1 : 0,
  credentialList: credentialList(order),
})
