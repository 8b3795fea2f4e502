import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { ROOT } from '../../../../platform/lib/root.ts'
import type { Locale } from '../../../../platform/lib/web/locale.ts'
import type { Product } from '../../catalogue/product.ts'
import { type DemoMistake, MISTAKES, type MistakeGroup } from '../../mistakes/mistakes.ts'
import type { Order, Refund } from '../../order/order.ts'

/** Keys of views/locales that follow from a value of the shop. */

export const STATE_KEYS: Readonly<Record<Order['state'] | Refund['state'], string>> = {
  created: 'office.state.created',
  paying: 'office.state.paying',
  issued: 'office.state.issued',
  'create failed': 'office.state.create_failed',
  'pay failed': 'office.state.pay_failed',
  reviewing: 'office.state.reviewing',
  refunded: 'office.state.refunded',
  refused: 'office.state.refused',
}

export const CALENDAR_KEYS: Readonly<Record<Product['calendar'], string>> = {
  'open date': 'office.calendar.open_date',
  days: 'office.calendar.days',
  levels: 'office.calendar.levels',
}

export const ISSUE_KEYS: Readonly<Record<Product['issues'], string>> = {
  'at once': 'office.issues.at_once',
  later: 'office.issues.later',
  'by notice': 'office.issues.by_notice',
}

export const REFUND_KEYS: Readonly<Record<Product['refunds'], string>> = {
  'at once': 'office.refunds.at_once',
  'after review': 'office.refunds.after_review',
  never: 'office.refunds.never',
}

export const NOTICE_KEYS: Readonly<Record<string, string>> = {
  '/mtp/api/deal/change/notice': 'office.notice.deal_change',
  '/mtp/api/order/consume/notice': 'office.notice.consume',
  '/mtp/api/order/refund/notice': 'office.notice.refund',
  '/mtp/api/order/pay/notice': 'office.notice.pay',
  '/mtp/api/level/price/notice/v2': 'office.notice.level_prices',
}

export const MISTAKE_GROUP_KEYS: Readonly<Record<MistakeGroup, string>> = {
  defence: 'office.mistakes_of.defence',
  shop: 'office.mistakes_of.shop',
  fields: 'office.mistakes_of.fields',
  answers: 'office.mistakes_of.answers',
  notices: 'office.mistakes_of.notices',
}

/** What the form that worked has done, as the page's address names it. */
export const DONE_KEYS: ReadonlyMap<string, string> = new Map([
  ['consume', 'office.done.consume'],
  ['decide-refund', 'office.done.decide_refund'],
  ['change-product', 'office.done.change_product'],
  ['add-product', 'office.done.add_product'],
  ['unchanged', 'office.done.unchanged'],
  ['mistakes', 'office.done.mistakes'],
  ['honest', 'office.done.honest'],
])

const CHINESE = z
  .record(z.string(), z.string())
  .parse(JSON.parse(readFileSync(new URL('views/locales/demo-mistakes.zh-CN.json', ROOT), 'utf8')))

/** What a mistake does: in English as the control API says it. */
export const mistakeText = (locale: Locale, name: DemoMistake): string =>
  locale === 'en' ? MISTAKES[name] : (CHINESE[name] ?? MISTAKES[name])
