import { type Fragment, sql } from '../../../platform/db/sql.ts'

/** Conditions by which calls are searched. */

/** What a call can be searched by: orderId, refundId, partnerDealId, path (of the partner's or of ours) and code. */
export const SEARCHES = ['order', 'refund', 'deal', 'path', 'code'] as const

export interface TrafficSearch {
  readonly by: (typeof SEARCHES)[number]
  /** Digits: an order's int64, a code's int32. */
  readonly value: string
}

/** The views of the list: our calls, notices that were accepted, and calls that were refused. */
export type TrafficView = 'sandbox_outgoing' | 'sandbox_accepted' | 'sandbox_refused'

/** Orders and refunds have an index; the other searches look at so many calls at a time, of each view. */
export const WINDOW = 1_000
export const isWindowed = ({ by }: TrafficSearch): boolean => by !== 'order' && by !== 'refund'

/** Characters of a body in which a product is searched. */
const SEARCHED_OF_BODY = 16_384

/** The value as a whole word: `D1` is not found in `D10`. */
const wordPattern = (value: string): string =>
  `(^|[^[:alnum:]_-])${value.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}($|[^[:alnum:]_-])`

/** Whether a row of the view is one that is searched for. */
export function matches({ by, value }: TrafficSearch, view: TrafficView): Fragment {
  const isOurs = view === 'sandbox_outgoing'
  switch (by) {
    case 'order':
      return isOurs ? sql.part`order_id = ${value}::bigint` : sql.part`order_id = ${value}`
    case 'refund':
      return sql.part`refund_id = ${value}`
    case 'deal': {
      const body = sql.identifier(isOurs ? 'request_body' : 'body')
      const begin = sql.part`left(${body}, ${SEARCHED_OF_BODY}::int)`
      return sql.part`(strpos(${begin}, 'partnerDealId') > 0 and ${begin} ~ ${wordPattern(value)})`
    }
    case 'path':
      return sql.part`strpos(${sql.identifier(isOurs ? 'url' : 'name')}, ${value}) > 0`
    case 'code':
      return sql.part`code = ${value}::int`
  }
}
