import type { Entry, Product } from './product.ts'

const flags = (value: boolean, names: readonly string[]) => Object.fromEntries(names.map((name) => [name, value]))

const AT_THE_GATE = {
  effectiveCertificate: '二维码 QR code',
  voucherLoaders: [1],
  needCertificateSupplement: false,
  certificateSupplement: '',
}

/** Defaults for all products, with every required field. */
const COMMON = {
  include: '入园门票一张 One entrance ticket',
  exclude: '园内餐饮 Food and drinks',
  otherNote: '请提前十分钟到达 Please arrive ten minutes early',
  /** 0: open date; n: valid n days from the booked date, and there is a price calendar. */
  useDateMode: 1,
  /** 1 none, 2 one, 3 all, 4 per group */
  visitorInfoType: 1,
  visitorInfoGroupSize: 1,
  visitorInfoRule: {
    ...flags(true, ['name', 'mobile']),
    ...flags(false, ['pinyin', 'address', 'email', 'credentials', 'passport', 'hkmlp', 'tlp', 'mtp']),
  },
  /** 1 any time, 3 never, 4 conditional */
  refundType: 1,
  partlyRefund: true,
  refundNote: '未使用可随时退 Unused tickets can be refunded at any time',
  scheduleOnlineTime: '2025-01-01 00:00:00',
  scheduleOfflineTime: '2035-12-31 23:59:59',
  servicePhones: ['0571-88880000'],
  getInAddresses: ['南门 South gate'],
  needTicket: false,
  getTicketRule: AT_THE_GATE,
  getVoucherRule: AT_THE_GATE,
  /** Minutes until an order that is not paid is closed: more than 30, at most 120. */
  orderCancelTime: 60,
  returnVoucher: true,
  voucherTimes: [{ startTime: '09:00', endTime: '21:30' }],
  unavailableDates: [],
  aheadHoursType: 0,
  aheadMinutes: 0,
  aheadTimeRules: [],
  /** 0: no limit. */
  idLimitDays: 0,
  idLimitCount: 0,
  phoneLimitDays: 0,
  phoneLimitCount: 0,
  maxBuyCount: 10,
  minBuyCount: 1,
  dealImageInfos: [{ imageName: 'cover', imageUrl: 'https://tickets.example.com/cover.jpg', frontImage: true }],
}

/** Without a calendar the entry says when the ticket is valid; stock and prices are added when it is sent. */
const OPEN_DATE = {
  useDateMode: 0,
  voucherDateBegin: '2025-01-01',
  voucherDateEnd: '2035-12-31',
  validWeekRule: flags(true, ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday']),
}

/** Most products are dated, issued and refunded at once, and have one code per ticket. */
const DEFAULTS = {
  calendar: 'days',
  stock: 1_000,
  issues: 'at once',
  refunds: 'at once',
  vouchers: 'one a ticket',
  onSale: true,
} as const

/** A product: its entry for the platform, and how the shop sells it. */
const product = (
  entry: Pick<Entry, 'partnerDealId' | 'title'> & { partnerPoiId: string; subTitle: string } & Partial<typeof COMMON> &
    Readonly<Record<string, unknown>>,
  sold: Pick<Product, 'prices'> & Partial<Product>,
): Product => ({ ...DEFAULTS, ...sold, partnerDealId: entry.partnerDealId, entry: { ...COMMON, ...entry } })

/** What the shop sells: one product for each way in which the interfaces can behave. */
export const ASSORTMENT: readonly Product[] = [
  product(
    {
      partnerDealId: 'DEMO-BOAT',
      partnerPoiId: 'DEMO-LAKE',
      title: '西湖游船日票 Lake boat, day ticket',
      subTitle: '当日不限次 As often as you like',
    },
    { prices: { market: 10_000, mt: 8_800, settlement: 7_500 } },
  ),
  product(
    {
      partnerDealId: 'DEMO-TOWER',
      partnerPoiId: 'DEMO-TOWER-HILL',
      title: '雷峰塔门票 Tower, entrance',
      subTitle: '出票需数秒，退款需审核 Issued after seconds, refunded after review',
      refundType: 4,
      refundNote: '退款需景区审核 The site decides on each refund',
      refundStairsRules: [
        { refundTimeType: 0, refundLimitMinutes: 0, refundFeeMode: 1, refundFee: 0, refundNote: '免手续费 No fee' },
      ],
    },
    {
      prices: { market: 6_000, mt: 5_000, settlement: 4_250 },
      issues: 'later',
      refunds: 'after review',
      vouchers: 'one an order',
    },
  ),
  product(
    {
      partnerDealId: 'DEMO-SOLD-OUT',
      partnerPoiId: 'DEMO-LAKE',
      title: '荷花节门票 Lotus festival',
      subTitle: '已售罄 Sold out',
    },
    { prices: { market: 4_000, mt: 3_900, settlement: 3_000 }, stock: 0 },
  ),
  product(
    {
      partnerDealId: 'DEMO-SHOW',
      partnerPoiId: 'DEMO-LAKE',
      title: '水上实景演出 Show on the lake',
      subTitle: '选场次和座位 Choose session and seats',
    },
    { prices: { market: 36_000, mt: 31_000, settlement: 26_000 }, calendar: 'levels', stock: 400 },
  ),
  product(
    {
      partnerDealId: 'DEMO-OPEN',
      partnerPoiId: 'DEMO-TOWER-HILL',
      title: '登山缆车 Cable car, any day',
      subTitle: '有效期内任意一天 Valid on any day',
      ...OPEN_DATE,
    },
    { prices: { market: 5_000, mt: 4_500, settlement: 3_999 }, calendar: 'open date', stock: -1 },
  ),
  product(
    {
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
    },
    { prices: { market: 20_000, mt: 18_000, settlement: 15_000 }, refunds: 'never', vouchers: 'none' },
  ),
  product(
    {
      partnerDealId: 'DEMO-CASTLE',
      partnerPoiId: 'DEMO-TOWER-HILL',
      title: '古城堡门票 Castle, entrance',
      subTitle: '出票结果另行通知 Tickets come by pay notice',
    },
    { prices: { market: 3_000, mt: 2_500, settlement: 2_000 }, issues: 'by notice' },
  ),
]
