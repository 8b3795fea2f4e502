import { MOUNT } from '../../platform/config/mounts.ts'

/** The endpoints below MOUNT (REFERENCE "Endpoints of area B"). */
export const PATH = {
  dealChange: '/deal/change/notice',
  consume: '/order/consume/notice',
  refund: '/order/refund/notice',
  pay: '/order/pay/notice',
  reschedule: '/order/reschedule/notice',
  levelPrices: '/level/price/notice/v2',
  signatureTest: '/order/test/ba',
} as const

/** The notices under the names that operators type. */
export const NOTICE_PATHS = {
  'deal-change': PATH.dealChange,
  consume: PATH.consume,
  refund: PATH.refund,
  pay: PATH.pay,
  reschedule: PATH.reschedule,
  'level-prices': PATH.levelPrices,
} as const

export const ENDPOINTS: readonly string[] = Object.values(PATH).map((path) => MOUNT + path)

/**
 * The code that rejects a correctly signed call. Some programs read 300 as "received" and would never send the codes of
 * a pay notice again, so pay notices get another code.
 */
export const failureCodeOf = (url: string): 300 | 400 => (url.split('?')[0]?.endsWith(PATH.pay) ? 400 : 300)
