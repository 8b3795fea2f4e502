import { stringify } from 'lossless-json'
import { MISTAKE_GROUPS, type Mistake, type MistakeGroup, type Switches } from '../../mistakes/mistakes.ts'
import type { Shop } from '../../shop.ts'
import { describeShop } from '../state.ts'
import type { Locale } from './locale.ts'
import { MISTAKE_TEXTS } from './mistake-texts.ts'
import { fill, TEXTS, type Texts } from './texts.ts'

/** The result of the last form: done, or why not. */
export interface Said {
  readonly done?: string
  readonly problem?: string
}

const SHOWN = 50

/** The newest, newest first; a note says when there are more. */
function newest<Entry>(t: Texts, all: readonly Entry[]) {
  const note = all.length > SHOWN ? fill(t.latest, { shown: SHOWN, all: all.length }) : ''
  return { all: all.length, note, shown: all.slice(-SHOWN).reverse() }
}

const isDone = (t: Texts, name: string): name is keyof Texts['done'] => Object.hasOwn(t.done, name)

/** Everything that the page shows, in the language of its reader. */
export function officeView(shop: Shop, switches: Switches, locale: Locale, { done = '', problem }: Said): object {
  const t = TEXTS[locale]
  const { products, orders, refunds, notices, deposit } = describeShop(shop)
  return {
    t,
    locale,
    problem,
    // The address only names a text; it never contains one.
    done: isDone(t, done) ? t.done[done] : '',
    products: products.map((product) => ({
      ...product,
      offer: fill(t.offer, {
        mt: product.mtPrice,
        settlement: product.settlementPrice,
        stock: product.stock === -1 ? t.unlimited : product.stock,
      }),
    })),
    deposit: fill(t.deposit, { yuan: (deposit / 100).toFixed(2) }),
    orders: newest(
      t,
      orders.map((order) => ({
        ...order,
        numbers: fill(t.numbers, { used: order.usedQuantity, refunded: order.refundedQuantity, all: order.quantity }),
      })),
    ),
    refunds: newest(t, refunds),
    notices: newest(
      t,
      notices.map((notice) => ({
        ...notice,
        sent: fill(t.attempts, { count: notice.attempts }),
        text: stringify(notice.message, null, 2),
      })),
    ),
    mistaken: [...switches],
    groups: (Object.keys(MISTAKE_GROUPS) as MistakeGroup[]).map((group) => ({
      title: t.groups[group],
      mistakes: (Object.keys(MISTAKE_GROUPS[group]) as Mistake[]).map((name) => ({
        name,
        text: MISTAKE_TEXTS[locale][name],
        on: switches.has(name),
      })),
    })),
  }
}
