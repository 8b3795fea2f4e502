import { inBody, type Json, type Spoil, type Spoilers } from './spoil.ts'

const UNKNOWN_ORDER = 301
const WRONG_PRICE = 410

/** Nothing is used or refunded of an order that nobody knows. */
const INVENTED = {
  orderStatus: 4,
  orderQuantity: 1,
  usedQuantity: 0,
  refundedQuantity: 0,
  voucherType: 0,
  voucherList: [],
}

/** Turns a refusal of this interface into a success. */
const granted =
  (path: string, isRefusal: (code: number) => boolean, body: Json): Spoil =>
  (answer, occasion) =>
    occasion.path === path && isRefusal(Number(answer.code))
      ? { ...answer, code: 200, describe: 'success', body }
      : answer

/** Mistakes of a shop that grants what it should refuse, or does not tell orders apart. */
export const GRANTED: Spoilers = {
  'unknown-order-found': granted('/order/query', (code) => code === UNKNOWN_ORDER, INVENTED),
  'old-price-accepted': granted('/order/create', (code) => code === WRONG_PRICE, { partnerOrderId: 'DP-OLD-PRICE' }),
  'any-refund-accepted': granted('/order/refund', (code) => code > 602, {}),
  'orders-share-id': (answer, { path }) =>
    path === '/order/create' ? inBody(answer, (entry) => ({ ...entry, partnerOrderId: 'DP-SHARED' })) : answer,
}
