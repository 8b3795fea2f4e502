import { stringify } from 'lossless-json'
import { type Locale, type Translate, translator } from '../../../../platform/lib/web/locale.ts'
import { type DemoMistake, MISTAKE_GROUPS, type MistakeGroup, type Switches } from '../../mistakes/mistakes.ts'
import type { Shop } from '../../shop.ts'
import { type describeNotice, describeShop } from '../state.ts'
import {
  CALENDAR_KEYS,
  DONE_KEYS,
  ISSUE_KEYS,
  MISTAKE_GROUP_KEYS,
  mistakeText,
  NOTICE_KEYS,
  REFUND_KEYS,
  STATE_KEYS,
} from './texts.ts'

/** The result of the last form: done, or why not. */
export interface Said {
  readonly done?: string
  readonly problem?: string
}

const SHOWN = 50

/** The newest, newest first; a note says when there are more. */
function newest<Entry>(t: Translate, all: readonly Entry[]) {
  const note = all.length > SHOWN ? t('office.latest', { shown: String(SHOWN), all: String(all.length) }) : ''
  return { all: all.length, note, shown: all.slice(-SHOWN).reverse() }
}

/** Everything that the page shows, in the language of its reader. */
export function officeView(shop: Shop, switches: Switches, locale: Locale, { done = '', problem }: Said): object {
  const t = translator(locale)
  const { products, orders, refunds, notices, deposit } = describeShop(shop)
  // The address only names a text; it never contains one.
  const doneKey = DONE_KEYS.get(done)
  return {
    t,
    locale,
    problem,
    done: doneKey && t(doneKey),
    products: products.map((product) => ({
      ...product,
      dates: t(CALENDAR_KEYS[product.calendar]),
      issuing: t(ISSUE_KEYS[product.issues]),
      refunding: t(REFUND_KEYS[product.refunds]),
      offer: t('office.offer', {
        mt: String(product.mtPrice),
        settlement: String(product.settlementPrice),
        stock: product.stock === -1 ? t('office.unlimited') : String(product.stock),
      }),
    })),
    deposit: t('office.deposit', { yuan: (deposit / 100).toFixed(2) }),
    orders: newest(
      t,
      orders.map((order) => ({
        ...order,
        stateText: t(STATE_KEYS[order.state]),
        numbers: t('office.numbers', {
          used: String(order.usedQuantity),
          refunded: String(order.refundedQuantity),
          all: String(order.quantity),
        }),
      })),
    ),
    refunds: newest(
      t,
      refunds.map((refund) => ({ ...refund, stateText: t(STATE_KEYS[refund.state]) })),
    ),
    notices: newest(
      t,
      notices.map((notice) => ({ ...notice, ...noticeTexts(t, notice) })),
    ),
    mistaken: [...switches],
    groups: (Object.keys(MISTAKE_GROUPS) as MistakeGroup[]).map((group) => ({
      title: t(MISTAKE_GROUP_KEYS[group]),
      mistakes: (Object.keys(MISTAKE_GROUPS[group]) as DemoMistake[]).map((name) => ({
        name,
        text: mistakeText(locale, name),
        on: switches.has(name),
      })),
    })),
  }
}

function noticeTexts(t: Translate, { path, attempts, message }: ReturnType<typeof describeNotice>) {
  const key = NOTICE_KEYS[path]
  return {
    kind: key ? t(key) : '',
    sent: t('office.attempts', { count: String(attempts) }),
    text: stringify(message, null, 2),
  }
}
