import { beijingDate, daysAfter, isWeekend } from './wire.ts'

/** A product of this shop: its entry for the platform, and how the shop handles it. */
export interface Product {
  readonly partnerDealId: string
  /** The entry of the product pull, as the platform receives it. */
  readonly entry: Entry
  /** What can be booked: one open-date ticket, one ticket per day, or one per day, session and seat level. */
  readonly calendar: 'open date' | 'days' | 'levels'
  /** Tickets per day (or session and level); -1 is unlimited. */
  readonly stock: number
  readonly prices: Prices
  /** Pay returns vouchers, or 598; then they come a few seconds later, by order query or by pay notice. */
  readonly issues: 'at once' | 'later' | 'by notice'
  /** Refund returns 200, or 602 and a notice later, or 607. */
  readonly refunds: 'at once' | 'after review' | 'never'
  /** On the wire voucherType 1, 2 and 0. */
  readonly vouchers: 'one a ticket' | 'one an order' | 'none'
  readonly onSale: boolean
}

/** Cents. The shop is paid the settlement price; the customer pays the platform's (mt) price. */
interface Prices {
  readonly market: number
  readonly mt: number
  readonly settlement: number
}

/** The fields of the entry that this shop reads itself; there are many more. */
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

/** A bookable unit: a product on a day, in a session, on a seat level. Each has its own stock. */
export interface Offer {
  /** Identifies the offer within the product; in a level calendar, the partnerPrimaryKey. */
  readonly key: string
  /** None for open-date tickets. */
  readonly date?: string
  readonly prices: Prices
  readonly seat?: Seat
}

interface Seat {
  readonly startTime: string
  readonly endTime: string
  readonly levelNo: string
  readonly levelName: string
}

const DAYS_ON_SALE = 90
const WEEKEND_SURCHARGE = 2_000

const SESSIONS = [
  { startTime: '15:00', endTime: '16:10' },
  { startTime: '19:30', endTime: '20:40' },
]
const LEVELS = [
  { levelNo: 'A', levelName: '前区 Stalls', surcharge: 10_000 },
  { levelNo: 'B', levelName: '后区 Balcony', surcharge: 0 },
]

const withSurcharge = ({ market, mt, settlement }: Prices, surcharge: number): Prices => ({
  market: market + surcharge,
  mt: mt + surcharge,
  settlement: settlement + surcharge,
})

/** What can be booked from `first` to `last`, inclusive; for an open-date product always its one ticket. */
export function offersOf(product: Product, first: string, last: string, now: Date): Offer[] {
  if (product.calendar === 'open date') return [{ key: '', prices: product.prices }]
  const days = Array.from({ length: DAYS_ON_SALE }, (_, day) => daysAfter(beijingDate(now), day))
  return days.filter((date) => first <= date && date <= last).flatMap((date) => offersOn(product, date))
}

function offersOn(product: Product, date: string): Offer[] {
  const prices = withSurcharge(product.prices, isWeekend(date) ? WEEKEND_SURCHARGE : 0)
  if (product.calendar === 'days') return [{ key: date, date, prices }]
  return SESSIONS.flatMap((session) =>
    LEVELS.map(({ levelNo, levelName, surcharge }) => ({
      key: [product.partnerDealId, date, session.startTime, levelNo].join('/'),
      date,
      prices: withSurcharge(prices, surcharge),
      seat: { ...session, levelNo, levelName },
    })),
  )
}
