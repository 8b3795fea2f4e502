import type { Locale } from '../../../platform/lib/web/locale.ts'

const KNOWN = ['if it is known', '已知时'] as const
const LEVELS = ['level price calendars', '层级价格日历的产品'] as const

/**
 * When a field is there by more than its message shows: by the order that it is about, or the stage of the partner. Of
 * our requests, every field that is not in all of them.
 */
export const CONDITIONS: Readonly<Record<string, readonly [en: string, zh: string]>> = {
  'deal-change.notice.partnerId': ['until you are live', '正式上线前'],
  'consume.notice.partnerId': ['until you are live', '正式上线前'],
  'refund.notice.partnerId': ['until you are live', '正式上线前'],
  'pay.notice.partnerId': ['until you are live', '正式上线前'],
  'reschedule.notice.partnerId': ['until you are live', '正式上线前'],
  'level-prices.notice.partnerId': ['until you are live', '正式上线前'],
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

/** Undefined for a field that depends on nothing beyond its message. */
export function conditionOf(anchor: string, locale: Locale): string | undefined {
  const [en, zh] = CONDITIONS[anchor] ?? []
  return locale === 'en' ? en : zh
}
