/** Where partners call, below each of MTP_PATH_PREFIXES. */
export const MOUNT = '/mtp/api'

/** The endpoints below MOUNT (source, B1; the signature tool: sandbox, step 2). */
export const PATH = {
  dealChange: '/deal/change/notice',
  consume: '/order/consume/notice',
  refund: '/order/refund/notice',
  signatureTest: '/order/test/ba',
} as const

export const ENDPOINTS: readonly string[] = Object.values(PATH).map((path) => MOUNT + path)
