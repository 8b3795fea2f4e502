import { beijingDate, daysAfter, isWeekend } from '../time.ts'
import type { Prices, Product } from './product.ts'

/** One thing that can be booked: a product on a day, in a session, on a seat level. Stock is counted for each. */
export interface Offer {
  /** Names the offer within the product; of a level calendar it is the partnerPrimaryKey. */
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

const dearer = ({ market, mt, settlement }: Prices, surcharge: number): Prices => ({
  market: market + surcharge,
  mt: mt + surcharge,
  settlement: settlement + surcharge,
})

/** What can be booked from `first` to `last`, both included; of an open-date product, always its one ticket. */
export function offersOf(product: Product, first: string, last: string, now: Date): Offer[] {
  if (product.calendar === 'open date') return [{ key: '', prices: product.prices }]
  const days = Array.from({ length: DAYS_ON_SALE }, (_, day) => daysAfter(beijingDate(now), day))
  return days.filter((date) => first <= date && date <= last).flatMap((date) => offersOn(product, date))
}

function offersOn(product: Product, date: string): Offer[] {
  const prices = dearer(product.prices, isWeekend(date) ? WEEKEND_SURCHARGE : 0)
  if (product.calendar === 'days') return [{ key: date, date, prices }]
  return SESSIONS.flatMap((session) =>
    LEVELS.map(({ levelNo, levelName, surcharge }) => ({
      key: [product.partnerDealId, date, session.startTime, levelNo].join('/'),
      date,
      prices: dearer(prices, surcharge),
      seat: { ...session, levelNo, levelName },
    })),
  )
}
