import { MOUNT, mountsOf } from '../config/mounts.ts'

/** The endpoints below MOUNT (DECISIONS "Endpoints of area B"). */
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

/** One of ENDPOINTS where another mount stands for MOUNT. */
export const at = (mount: string, endpoint: string): string => mount + endpoint.slice(MOUNT.length)

/**
 * The one spelling of a path in a request line: a prefix that is not ASCII is percent-encoded there, and nothing else
 * is. The router would accept `/consum%65/notice` too, and a signature over one path would be valid for many.
 */
export const spelled = (path: string): string => new URL(path, 'http://host').pathname

/**
 * The code that refuses a correctly signed call. Some programs read 300 as "received" and would never send the codes of
 * a pay notice again, so pay notices get another code.
 */
export const refusalCode = (url: string): 300 | 400 => (url.split('?')[0]?.endsWith(PATH.pay) ? 400 : 300)

/** An endpoint's paths, below each of MTP_PATH_PREFIXES. */
export const spellings = (prefixes: readonly string[], tail: string): string[] =>
  mountsOf(prefixes).map((mount) => spelled(mount + tail))
