/** The endpoints that partners call, below each of MTP_PATH_PREFIXES (source, B1; the signature tool: sandbox, step 2). */
export const PATH = {
  dealChange: '/mtp/api/deal/change/notice',
  consume: '/mtp/api/order/consume/notice',
  refund: '/mtp/api/order/refund/notice',
  signatureTest: '/mtp/api/order/test/ba',
} as const

export const ENDPOINTS: readonly string[] = Object.values(PATH)
