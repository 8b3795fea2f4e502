/** A product as this shop keeps it: what it shows to the platform, and how it behaves behind that. */
export interface Product {
  readonly partnerDealId: string
  /** The entry of the product pull, as the platform receives it. */
  readonly entry: Entry
  /** Where the bookable tickets come from: one open-date ticket, one a day, or one a day, session and seat level. */
  readonly calendar: 'open date' | 'days' | 'levels'
  /** Tickets for each day (or session and level); -1 is unlimited. */
  readonly stock: number
  readonly prices: Prices
  /** Pay answers with vouchers, or with 598; then order query says a few seconds later that they are there, or a pay notice does. */
  readonly issues: 'at once' | 'later' | 'by notice'
  /** Refund answers 200, 602 and a notice later, or 607. */
  readonly refunds: 'at once' | 'after review' | 'never'
  /** On the wire voucherType 1, 2 and 0. */
  readonly vouchers: 'one a ticket' | 'one an order' | 'none'
  readonly onSale: boolean
}

/** Cents. The shop is paid the settlement price; the customer pays the platform's (mt) price. */
export interface Prices {
  readonly market: number
  readonly mt: number
  readonly settlement: number
}

/** The fields of the entry that this shop reads itself; it holds many more. */
export interface Entry extends Readonly<Record<string, unknown>> {
  readonly partnerDealId: string
  readonly title: string
  readonly minBuyCount: number
  readonly maxBuyCount: number
  /** 1 none, 2 one visitor, 3 all visitors */
  readonly visitorInfoType: number
}

/** Prices travel in yuan. */
const yuan = (cents: number): number => cents / 100

export const pricesOnTheWire = ({ market, mt, settlement }: Prices) => ({
  marketPrice: yuan(market),
  mtPrice: yuan(mt),
  settlementPrice: yuan(settlement),
})
