import { entry, OPEN_DATE } from './entry.ts'
import type { Product } from './product.ts'

/** Most products: dated, sold at once, refunded at once, one code per ticket. */
const USUAL = {
  calendar: 'days',
  stock: 1_000,
  issues: 'at once',
  refunds: 'at once',
  vouchers: 'one a ticket',
  onSale: true,
} as const

/** What this shop sells: one product for each way in which the interfaces can behave. */
export const ASSORTMENT: readonly Product[] = [
  {
    ...USUAL,
    partnerDealId: 'DEMO-BOAT',
    entry: entry({
      partnerDealId: 'DEMO-BOAT',
      partnerPoiId: 'DEMO-LAKE',
      title: '西湖游船日票 Lake boat, day ticket',
      subTitle: '当日不限次 As often as you like',
    }),
    prices: { market: 10_000, mt: 8_800, settlement: 7_500 },
  },
  {
    ...USUAL,
    partnerDealId: 'DEMO-TOWER',
    entry: entry({
      partnerDealId: 'DEMO-TOWER',
      partnerPoiId: 'DEMO-TOWER-HILL',
      title: '雷峰塔门票 Tower, entrance',
      subTitle: '出票需数秒，退款需审核 Issued after seconds, refunded after review',
      refundType: 4,
      refundNote: '退款需景区审核 The site decides on each refund',
      refundStairsRules: [
        { refundTimeType: 0, refundLimitMinutes: 0, refundFeeMode: 1, refundFee: 0, refundNote: '免手续费 No fee' },
      ],
    }),
    prices: { market: 6_000, mt: 5_000, settlement: 4_250 },
    issues: 'later',
    refunds: 'after review',
    vouchers: 'one an order',
  },
  {
    ...USUAL,
    partnerDealId: 'DEMO-SOLD-OUT',
    entry: entry({
      partnerDealId: 'DEMO-SOLD-OUT',
      partnerPoiId: 'DEMO-LAKE',
      title: '荷花节门票 Lotus festival',
      subTitle: '已售罄 Sold out',
    }),
    prices: { market: 4_000, mt: 3_900, settlement: 3_000 },
    stock: 0,
  },
  {
    ...USUAL,
    partnerDealId: 'DEMO-SHOW',
    entry: entry({
      partnerDealId: 'DEMO-SHOW',
      partnerPoiId: 'DEMO-LAKE',
      title: '水上实景演出 Show on the lake',
      subTitle: '选场次和座位 Choose session and seats',
    }),
    prices: { market: 36_000, mt: 31_000, settlement: 26_000 },
    calendar: 'levels',
    stock: 400,
  },
  {
    ...USUAL,
    partnerDealId: 'DEMO-OPEN',
    entry: entry({
      partnerDealId: 'DEMO-OPEN',
      partnerPoiId: 'DEMO-TOWER-HILL',
      title: '登山缆车 Cable car, any day',
      subTitle: '有效期内任意一天 Valid on any day',
      ...OPEN_DATE,
    }),
    prices: { market: 5_000, mt: 4_500, settlement: 3_999 },
    calendar: 'open date',
    stock: -1,
  },
  {
    ...USUAL,
    partnerDealId: 'DEMO-NIGHT',
    entry: entry({
      partnerDealId: 'DEMO-NIGHT',
      partnerPoiId: 'DEMO-LAKE',
      title: '夜游实名票 Night cruise, real names',
      subTitle: '凭身份证入场，不可退 Entrance by id card, no refunds',
      visitorInfoType: 3,
      refundType: 3,
      partlyRefund: false,
      refundNote: '不可退 No refunds',
      returnVoucher: false,
      voucherText: '凭身份证入场',
    }),
    prices: { market: 20_000, mt: 18_000, settlement: 15_000 },
    refunds: 'never',
    vouchers: 'none',
  },
  {
    ...USUAL,
    partnerDealId: 'DEMO-CASTLE',
    entry: entry({
      partnerDealId: 'DEMO-CASTLE',
      partnerPoiId: 'DEMO-TOWER-HILL',
      title: '古城堡门票 Castle, entrance',
      subTitle: '出票结果另行通知 Tickets come by pay notice',
    }),
    prices: { market: 3_000, mt: 2_500, settlement: 2_000 },
    issues: 'by notice',
  },
]
