import type { Entry } from './product.ts'

const WHOLE_WEEK = {
  monday: true,
  tuesday: true,
  wednesday: true,
  thursday: true,
  friday: true,
  saturday: true,
  sunday: true,
}

const AT_THE_GATE = {
  effectiveCertificate: '二维码 QR code',
  voucherLoaders: [1],
  needCertificateSupplement: false,
  certificateSupplement: '',
}

/** What most products have in common. Every required field is here, so that no product lacks one. */
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
    name: true,
    pinyin: false,
    mobile: true,
    address: false,
    email: false,
    credentials: false,
    passport: false,
    hkmlp: false,
    tlp: false,
    mtp: false,
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

/** A product's entry for the platform. */
export const entry = (
  given: { partnerDealId: string; partnerPoiId: string; title: string; subTitle: string } & Partial<typeof COMMON> &
    Record<string, unknown>,
): Entry => ({ ...COMMON, ...given })

/** Without a calendar, the entry itself says when the ticket is valid; stock and prices are added when it is sent. */
export const OPEN_DATE = {
  useDateMode: 0,
  voucherDateBegin: '2025-01-01',
  voucherDateEnd: '2035-12-31',
  validWeekRule: WHOLE_WEEK,
}
