import { gzipSync } from 'node:zlib'
import type { Random } from './random.ts'
import { asBytes, brokenJson, type Json, someText } from './values.ts'

/** Answers of a partner that has never read the contract or wants to harm us. */

type RequestBody = Readonly<Record<string, unknown>>
const LATER = '2030-01-01 00:00:00'
const prices = { marketPrice: '100.00', mtPrice: '90.00', settlementPrice: '80.00', stock: 5 }
const voucher = { voucherPics: '', voucherInvalidTime: LATER, quantity: 1, status: 0 }

const product = (partnerDealId: unknown): Json => ({
  partnerDealId: String(partnerDealId),
  title: 'A boat',
  include: 'a seat',
  otherNote: '-',
  useDateMode: 0,
  visitorInfoType: 1,
  refundType: 1,
  partlyRefund: true,
  scheduleOnlineTime: '2026-01-01 00:00:00',
  scheduleOfflineTime: LATER,
  servicePhones: ['400-000-0000'],
  getInAddresses: ['Gate 1'],
  needTicket: false,
  getTicketRule: { voucherLoaders: [1] },
  getVoucherRule: { voucherLoaders: [1], needCertificateSupplement: false },
  orderCancelTime: 60,
  returnVoucher: true,
  voucherDateBegin: '2026-01-01 00:00:00',
  voucherDateEnd: LATER,
  validWeekRule: { monday: true },
  unavailableDates: ['2026-05-01'],
  voucherTimes: [],
  phoneLimitCount: 0,
  maxBuyCount: 0,
  minBuyCount: 1,
  dealImageInfos: [{ imageName: 'a', imageUrl: 'https://img.example/a.png', frontImage: true }],
  refundStairsRules: [{ refundTimeType: 0, refundFeeMode: 1 }],
  ...prices,
})

/** A correct answer of each interface to the `body` of a request, by the interface's default path. */
const CORRECT: Readonly<Record<string, (requestBody: RequestBody) => { readonly [name: string]: Json | undefined }>> = {
  '/poi/query': () => ({
    totalSize: 1,
    body: [{ partnerPoiId: 'P', name: 'Pier', locType: 0, longitude: 1, latitude: 1 }],
  }),
  '/product/query': () => ({ totalSize: 2, body: [product('DEAL-1'), product('DEAL-2')] }),
  '/product/price/query': ({ partnerDealId, startTime }) => ({
    body: [{ partnerDealId: String(partnerDealId), date: String(startTime), ...prices }],
  }),
  '/product/level/price/calendar/v2': ({ partnerDealId, startTime }) => ({
    partnerDealId: String(partnerDealId),
    body: [
      {
        partnerPrimaryKey: 'K',
        skuInfo: { startTime: '10:00', endTime: '11:00', levelInfoList: [{ levelNo: '1', levelName: 'A' }] },
        priceDate: String(startTime),
        ...prices,
      },
    ],
  }),
  '/order/create': ({ orderId }) => ({ body: { partnerOrderId: `P-${orderId}` } }),
  '/order/pay': ({ orderId }) => ({
    body: {
      orderId: String(orderId),
      partnerOrderId: `P-${orderId}`,
      voucherType: 1,
      vouchers: [`${orderId}-1`, `${orderId}-2`],
      voucherPics: ['', ''],
      realNameType: 1,
      credentialList: [{ credentialType: 0, credentialNo: '11010519491231002X', voucher: `${orderId}-1` }],
      asyReturnVoucher: false,
      voucherAdditionalList: [{ voucher: `${orderId}-1` }],
    },
  }),
  '/order/query': ({ orderId }) => ({
    body: {
      orderId: String(orderId),
      partnerOrderId: `P-${orderId}`,
      orderStatus: 4,
      orderQuantity: 2,
      usedQuantity: 0,
      refundedQuantity: 0,
      voucherType: 1,
      voucherList: [
        { ...voucher, voucher: `${orderId}-1` },
        { ...voucher, voucher: `${orderId}-2` },
      ],
      credentialList: [{ credentialType: 0, credentialNo: '1', voucher: `${orderId}-1`, status: 0 }],
      orderAdditionalList: [{ any: 1 }],
    },
  }),
  '/order/refund': ({ orderId, refundId }) => ({ body: { orderId: String(orderId), refundId: String(refundId) } }),
  '/order/reschedule': ({ orderId, rescheduleNo }) => ({
    body: { orderId: String(orderId), rescheduleNo: String(rescheduleNo), successCount: 1, credentialVouchers: [] },
  }),
  '/balance/query': () => ({
    body: [{ partnerDealId: 'DEAL-1', prepaidAccountBalance: 1, creditAccountBalance: -1 }],
  }),
}

export interface HostileAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
  /** What happens to the connection instead of, or after, the answer. */
  readonly act?: 'close' | 'cut' | 'no-http' | 'early'
}

const CODES = [200, 200, 200, 200, 300, 420, 501, 598, 601, 602, 606, 999, 0, -1, 2_147_483_648]
const LARGE = Buffer.from(`{"code":200,"describe":"ok","body":[${'{},'.repeat(400_000)}{}]}`)

export function hostileAnswer(random: Random, path: string, requestBody: RequestBody): HostileAnswer {
  // Correct often enough that orders reach their next state.
  const share = random.pick([0, 0, 0.02, 0.1, 0.4])
  const right = CORRECT[path]?.(requestBody) ?? { body: {} }
  const code = share === 0 ? 200 : random.pick(CODES)
  const text = brokenJson(random, { code, describe: 'success', partnerId: '7', ...right }, share)
  const json = { 'Content-Type': 'application/json; charset=utf-8' }
  const plain: HostileAnswer = {
    status: 200,
    headers: json,
    body: share === 0 ? Buffer.from(text) : asBytes(random, text),
  }
  if (!random.chance(share / 3)) return plain
  switch (random.int(9)) {
    case 0:
      return { ...plain, status: random.pick([100, 204, 301, 302, 304, 401, 404, 418, 500, 503, 599]) }
    case 1:
      return {
        ...plain,
        headers: { Location: 'http://169.254.169.254/', 'Set-Cookie': 'a=b', 'Content-Type': 'text/html' },
      }
    case 2:
      return { ...plain, headers: { ...json, 'Content-Encoding': 'gzip' }, body: gzipSync(Buffer.alloc(3_000_000, 32)) }
    case 3:
      return {
        ...plain,
        headers: Object.fromEntries(Array.from({ length: 300 }, (_, place) => [`X-${place}`, 'x'.repeat(60)])),
      }
    case 4:
      return {
        ...plain,
        headers: {
          'Content-Type': Buffer.from(someText(random))
            .toString('latin1')
            .replace(/[^\x20-\x7e]/g, '?'),
        },
      }
    case 5:
      return { ...plain, body: LARGE }
    default:
      return { ...plain, act: random.pick(['close', 'cut', 'no-http', 'early']) }
  }
}
