import type { Answer } from './answer.ts'
import { queryPois } from './catalogue/poi.ts'
import { queryLevelPrices, queryPrices } from './catalogue/price.ts'
import { noteStatus, queryBalance, queryProducts } from './catalogue/query.ts'
import { type Fields, fieldsOf } from './fields.ts'
import { closeOrder } from './order/close.ts'
import { createOrder } from './order/create.ts'
import { payOrder } from './order/pay.ts'
import { queryOrder } from './order/query.ts'
import { refundOrder } from './order/refund.ts'
import { noteRefunded } from './order/refunded.ts'
import { rescheduleOrder } from './order/reschedule.ts'
import type { Shop } from './shop.ts'

/** One interface that the platform calls. */
export interface Interface {
  /** The paths are free; these are the ones that the platform tries when it knows only a base URL. */
  readonly path: string
  /** The code for a request that lacks a field or has a wrong one. */
  readonly malformed: number
  /** `body` is the field body of the request. */
  readonly answer: (shop: Shop, body: unknown) => Answer
}

/** Most requests have an object as their body. */
const of = (path: string, malformed: number, answer: (shop: Shop, body: Fields) => Answer): Interface => ({
  path,
  malformed,
  answer: (shop, body) => answer(shop, fieldsOf(body, 'body')),
})

/** Everything that the platform can ask of us. */
export const INTERFACES: readonly Interface[] = [
  of('/poi/query', 399, (_shop, body) => queryPois(body)),
  of('/product/query', 399, queryProducts),
  of('/product/price/query', 201, queryPrices),
  of('/product/level/price/calendar/v2', 201, queryLevelPrices),
  of('/order/create', 410, createOrder),
  of('/order/pay', 599, payOrder),
  of('/order/query', 399, queryOrder),
  of('/order/refund', 699, refundOrder),
  of('/order/refunded', 300, noteRefunded),
  of('/order/close', 300, closeOrder),
  of('/order/reschedule', 300, rescheduleOrder),
  of('/balance/query', 300, queryBalance),
  { path: '/product/status', malformed: 300, answer: noteStatus },
  { path: '/alive', malformed: 300, answer: () => ({}) },
]
