import type { Locale } from '../../../../platform/lib/web/locale.ts'
import { NOTICES } from '../notices.ts'

/** What a field means, and a value for the example; objects with fields need none. */
export type Meaning = readonly [en: string, zh: string, example?: unknown]

/** By name, or if that is ambiguous by the end of an anchor (`voucherList.status`). */
export type Meanings = Readonly<Record<string, Meaning>>

/** By value. */
type Values = Readonly<Record<string, readonly [en: string, zh: string]>>

const VOUCHER_STATUS: Values = {
  0: ['unused', '未使用'],
  1: ['used', '已使用'],
  2: ['refunded', '已退款'],
  3: ['void', '已作废'],
}

const OUR_CODES: Values = {
  200: ['success', '成功'],
  300: ['not accepted; describe says why', '未受理；原因见 describe'],
}

/** By the same keys as FIELD_MEANINGS. A test checks that the values are exactly those of the schemas. */
export const VALUES: Readonly<Record<string, Values>> = {
  'deal-change.notice.body.status': {
    0: ['taken off sale', '下架'],
    1: ['put on sale', '上架'],
    2: ['information changed', '信息变更'],
    5: ['price calendar changed', '价格日历变更'],
  },
  'product-status.request.body.status': {
    0: ['waiting', '等待'],
    1: ['online', '已上线'],
    2: ['failed', '失败'],
    3: ['offline', '已下线'],
    4: ['not yet online', '未上线'],
  },
  checkStatus: {
    0: ['waiting', '待审'],
    1: ['passed', '通过'],
    2: ['rejected', '驳回'],
    3: ['exempt', '免审'],
    4: ['blacklisted', '黑名单'],
    5: ['not submitted', '未提交'],
    9: ['given up', '放弃'],
  },
  method: { page: ['by page', '分页'], multi: ['by ids', '按 ID'] },
  asyncType: { 0: ['answer now', '立即返回'], 1: ['answer later (code 999)', '稍后返回（code 999）'] },
  locType: {
    0: ['GCJ-02', 'GCJ-02（国测局）'],
    1: ['WGS-84', 'WGS-84（GPS）'],
    2: ['Baidu', '百度'],
    3: ['Mapbar', '图吧'],
    4: ['Sogou', '搜狗'],
    5: ['other', '其他'],
  },
  gender: { 1: ['male', '男'], 2: ['female', '女'] },
  voucherType: {
    0: ['no code', '无码'],
    1: ['one code per ticket', '一票一码'],
    2: ['one code per order', '一单一码'],
  },
  realNameType: { 0: ['not a real-name order', '非实名'], 1: ['real-name order', '实名'] },
  credentialType: {
    0: ['id card', '身份证'],
    1: ['passport', '护照'],
    2: ['military officer ID', '军官证'],
    3: ['Taiwan compatriot permit', '台胞证'],
    4: ['HK/Macau pass', '港澳通行证'],
    5: ['mainland permit to Taiwan', '大陆居民往来台湾通行证'],
  },
  'voucherList.status': VOUCHER_STATUS,
  'credentialList.status': VOUCHER_STATUS,
  issueType: {
    0: ['failed (legacy value)', '出票失败（旧程序）'],
    1: ['issued', '出票成功'],
    2: ['failed', '出票失败'],
  },
  orderStatus: {
    2: ['created', '已创建'],
    3: ['create failed', '创建失败'],
    4: ['paid and issued; also when used or refunded', '已支付出票；已使用、已退款也是 4'],
    5: ['paying', '支付中'],
    6: ['pay failed', '支付失败'],
  },
  closeType: {
    1: ['not paid', '未支付'],
    2: ['create failed', '创建失败'],
    3: ['pay failed and refunded', '支付失败已退款'],
  },
  refundMessageType: {
    1: ['refunded by customer service', '客服退款'],
    2: ['payment never confirmed', '支付未确认'],
    3: ['review timed out', '审核超时'],
  },
  visitorInfoType: {
    1: ['none', '不需要'],
    2: ['one visitor', '一位'],
    3: ['all visitors', '全部'],
    4: ['one per group', '每组一位'],
  },
  refundType: { 1: ['any time', '随时退'], 3: ['never', '不可退'], 4: ['conditional', '有条件退'] },
  refundFeeMode: {
    1: ['no fee', '无手续费'],
    2: ['per ticket', '按张'],
    3: ['per order', '按单'],
    4: ['per cent of the price', '按比例'],
  },
  'refund.notice.code': {
    200: ['refunded', '已退款'],
    606: ['not enough tickets, or refund refused', '票数不足或拒绝退款'],
    699: ['refused, or another failure', '拒绝或其他失败'],
  },
  ...Object.fromEntries(NOTICES.map(({ name }) => [`${name}.answer.code`, OUR_CODES])),
  'pay.answer.code': {
    200: ['success', '成功'],
    300: ['wrong signature', '签名错误'],
    400: ['not accepted; describe says why', '未受理；原因见 describe'],
  },
}

/** Chinese for the meanings of codes, which the interfaces give in English. */
export const CODES_ZH: Readonly<Record<string, string>> = {
  error: '其他错误',
  'bad parameters': '参数错误',
  'other price error': '其他价格错误',
  'will follow': '稍后返回',
  'data or price wrong, pull the calendar again': '数据或价格错误，请重新拉取价格日历',
  'out of stock': '库存不足',
  'product paused, expired or unknown': '产品暂停、过期或不存在',
  'against a booking rule': '不符合预订规则',
  'other create error': '其他下单错误',
  issuing: '出票中',
  'balance too low': '余额不足',
  'no earlier success found': '未找到之前的成功记录',
  'other pay error': '其他支付错误',
  'no such order': '订单不存在',
  'look-up failed': '查询失败',
  'other query error': '其他查询错误',
  'under review': '审核中',
  'already refunded': '已退款',
  'wrong type of code': '凭证码类型错误',
  'not enough tickets, or refund refused': '票数不足或拒绝退款',
  'product not refundable': '产品不可退',
  'other refund error': '其他退款错误',
}

const KNOWN = ['if it is known', '已知时'] as const
const LEVELS = ['level price calendars', '层级价格日历的产品'] as const

/**
 * When a field is present or required, if that depends on more than its message, such as the order or the partner's
 * stage. For our requests: every field that not all of them have.
 */
export const CONDITIONS: Readonly<Record<string, readonly [en: string, zh: string]>> = {
  ...Object.fromEntries(
    NOTICES.map(({ name }) => [`${name}.notice.partnerId`, ['until you are live', '正式上线前'] as const]),
  ),
  'consume.notice.body.voucherList': ['for orders with one code per ticket', '一票一码的订单'],
  'order-query.answer.body.voucherList': ['for orders with one code per ticket', '一票一码的订单'],
  'pay.notice.body.vouchers': ['issueType = 1, voucherType = 1 or 2', 'issueType = 1，voucherType = 1 或 2'],
  'order-pay.answer.body.vouchers': ['voucherType = 1 or 2', 'voucherType = 1 或 2'],
  'order-pay.answer.body.credentialList': ['realNameType = 1', 'realNameType = 1'],
  'pay.notice.body.credentialList': ['realNameType = 1', 'realNameType = 1'],
  'order-create.request.body.visitors.gender': KNOWN,
  'order-create.request.body.contactPerson': KNOWN,
  'order-create.request.body.contactPerson.gender': KNOWN,
  'order-create.request.body.partnerPrimaryKey': LEVELS,
  'order-create.request.body.levelIds': LEVELS,
  'order-refund.request.body.credentialList': ['real-name orders', '实名订单'],
  'order-reschedule.request.body.rescheduleVisitors.originVisitor.gender': KNOWN,
  'order-reschedule.request.body.rescheduleVisitors.targetVisitor.gender': KNOWN,
  'order-reschedule.request.body.originLevelIds': LEVELS,
  'order-reschedule.request.body.targetLevelIds': LEVELS,
  'product-status.request.body.checkStatus': KNOWN,
  'product-status.request.body.msRatioCheckStatus': KNOWN,
}

export function conditionOf(anchor: string, locale: Locale): string | undefined {
  const [en, zh] = CONDITIONS[anchor] ?? []
  return locale === 'en' ? en : zh
}
