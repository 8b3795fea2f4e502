import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { stringify } from 'lossless-json'
import { readTexts } from '../../../platform/lib/root.ts'
import { chooseLocale, keyOf, type Locale, type Translate, translator } from '../../../platform/lib/web/locale.ts'
import { registerPages } from '../../../platform/lib/web/page.ts'
import { MISTAKE_GROUPS, type Switches } from '../mistakes/mistakes.ts'
import type { Shop } from '../shop.ts'
import { type Fields, Refusal } from '../wire.ts'
import { ACTIONS, type Action, act, describeProduct, describeShop, MISTAKES, switchMistakes } from './actions.ts'

/** Text keys of the notices, by path. */
const NOTICE_KEYS: Readonly<Record<string, string>> = {
  '/mtp/api/deal/change/notice': 'office.notice.deal_change',
  '/mtp/api/order/consume/notice': 'office.notice.consume',
  '/mtp/api/order/refund/notice': 'office.notice.refund',
  '/mtp/api/order/pay/notice': 'office.notice.pay',
  '/mtp/api/level/price/notice/v2': 'office.notice.level_prices',
}

/** What mistakes do; the English texts are those of the control API. */
const MISTAKE_TEXTS: Readonly<Record<Locale, typeof MISTAKES>> = {
  en: MISTAKES,
  'zh-CN': readTexts('demo-mistakes.zh-CN'),
}

/** The result of the last form: what was done, or why not. */
interface Result {
  readonly done?: string
  readonly problem?: string
}

const SHOWN = 50

/** The newest entries, newest first, and a note if there are more. */
function newest<Entry>(t: Translate, all: readonly Entry[]) {
  const note = all.length > SHOWN ? t('office.latest', { shown: String(SHOWN), all: String(all.length) }) : ''
  return { all: all.length, note, shown: all.slice(-SHOWN).reverse() }
}

/** Everything that the page shows, in the reader's language. */
function officeView(shop: Shop, switches: Switches, locale: Locale, { done = '', problem }: Result): object {
  const t = translator(locale)
  const texts = MISTAKE_TEXTS[locale]
  const { products, orders, refunds, notices, deposit } = describeShop(shop)
  const withState = <Row extends { readonly state: string }>(row: Row) => ({
    ...row,
    stateText: t(keyOf('office.state.', row.state)),
  })
  const withTexts = (notice: (typeof notices)[number]) => ({
    ...notice,
    kind: t(NOTICE_KEYS[notice.path] ?? ''),
    text: stringify(notice.message, null, 2),
  })
  // The query names a text; it is never shown itself.
  const doneKey = keyOf('office.done.', done)
  return {
    t,
    locale,
    problem,
    done: t.has(doneKey) && t(doneKey),
    products: products.map((product) => ({
      ...product,
      dates: t(keyOf('office.calendar.', product.calendar)),
      issuing: t(keyOf('office.issues.', product.issues)),
      refunding: t(keyOf('office.refunds.', product.refunds)),
    })),
    deposit: (deposit / 100).toFixed(2),
    orders: newest(t, orders.map(withState)),
    refunds: newest(t, refunds.map(withState)),
    notices: newest(t, notices.map(withTexts)),
    mistaken: [...switches],
    groups: Object.entries(MISTAKE_GROUPS).map(([group, names]) => ({
      title: t(`office.mistakes_of.${group}`),
      mistakes: names.map((name) => ({ name, text: texts[name], on: switches.has(name) })),
    })),
  }
}

/** Fields that a form sends as yes or no. */
const YES_OR_NO = ['approve', 'onSale']

/** A form as input of the control API. */
const inputOf = (form: URLSearchParams): Fields =>
  Object.fromEntries([...form].map(([name, value]) => [name, YES_OR_NO.includes(name) ? value === 'yes' : value]))

/** The form of a product sends every field, but only different values are changes. */
function changesIn(input: Fields, shop: Shop): Fields {
  const product = shop.products.get(String(input.partnerDealId))
  const shown: Fields = product ? describeProduct(product) : {}
  const isShown = ([name, value]: [string, unknown]): boolean =>
    typeof shown[name] === 'number' ? Number(value) === shown[name] : value === shown[name]
  const changed = Object.entries(input).filter((field) => !isShown(field))
  return { ...Object.fromEntries(changed), partnerDealId: input.partnerDealId }
}

/** No scripts, and nothing from elsewhere. Without a referrer Chromium would send our own forms with Origin: null. */
const HEADERS = {
  'Content-Security-Policy':
    "default-src 'none'; style-src 'self'; font-src 'self'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'same-origin',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Cache-Control': 'no-store',
}

/**
 * The back office: one page with a form for each action. After a success the form redirects back to the page, so that
 * reloading repeats nothing; after a failure the page shows the reason, with status 400.
 */
export async function registerOffice(app: FastifyInstance, shop: Shop, switches: Switches): Promise<void> {
  await registerPages(app, 'http://localhost') // the address is for a cookie that this page does not set
  const show = async (request: FastifyRequest, reply: FastifyReply, result: Result) => {
    const locale = chooseLocale({ acceptLanguage: request.headers['accept-language'] })
    const html = await reply.viewAsync('demo-office/page', officeView(shop, switches, locale, result))
    return reply
      .headers({ ...HEADERS, Vary: 'Accept-Language' })
      .type('text/html; charset=utf-8')
      .send(html)
  }
  const form = (path: string, submit: (form: URLSearchParams) => string | Promise<string>): void => {
    app.post(`/office/${path}`, async (request, reply) => {
      const done = await submit(new URLSearchParams(String(request.body ?? '')))
      return reply.redirect(`/?done=${done}#said`, 303)
    })
  }

  app.get<{ Querystring: { done?: string } }>('/', (request, reply) =>
    show(request, reply, { done: String(request.query.done ?? '') }),
  )
  for (const action of Object.keys(ACTIONS) as Action[]) {
    form(action, async (fields) => {
      const input = inputOf(fields)
      const notices = await act(shop, action, action === 'change-product' ? changesIn(input, shop) : input)
      return notices.length > 0 ? action : 'unchanged'
    })
  }
  form('mistakes', (fields) => {
    switchMistakes(switches, fields.getAll('mistakes'))
    return switches.size > 0 ? 'mistakes' : 'honest'
  })

  app.setErrorHandler((error, request, reply) => {
    if (!(error instanceof Refusal)) throw error
    return show(request, reply.code(400), { problem: error.message })
  })
}
