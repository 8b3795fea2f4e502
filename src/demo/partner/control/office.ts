import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { Eta } from 'eta'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { stringify } from 'lossless-json'
import { z } from 'zod'
import { ROOT } from '../../../platform/lib/root.ts'
import { chooseLocale, keyOf, type Locale, type Translate, translator } from '../../../platform/lib/web/locale.ts'
import { type DemoMistake, MISTAKE_GROUPS, MISTAKES, type MistakeGroup, type Switches } from '../mistakes/mistakes.ts'
import type { Shop } from '../shop.ts'
import { type Fields, Refusal } from '../wire.ts'
import {
  ACTIONS,
  type Action,
  act,
  type describeNotice,
  describeProduct,
  describeShop,
  switchMistakes,
} from './actions.ts'

/** Text keys of the notices, by path. */
const NOTICE_KEYS: Readonly<Record<string, string>> = {
  '/mtp/api/deal/change/notice': 'office.notice.deal_change',
  '/mtp/api/order/consume/notice': 'office.notice.consume',
  '/mtp/api/order/refund/notice': 'office.notice.refund',
  '/mtp/api/order/pay/notice': 'office.notice.pay',
  '/mtp/api/level/price/notice/v2': 'office.notice.level_prices',
}

const CHINESE = z
  .record(z.string(), z.string())
  .parse(JSON.parse(readFileSync(new URL('views/locales/demo-mistakes.zh-CN.json', ROOT), 'utf8')))

/** What a mistake does; the English text is that of the control API. */
const mistakeText = (locale: Locale, name: DemoMistake): string =>
  locale === 'en' ? MISTAKES[name] : (CHINESE[name] ?? MISTAKES[name])

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
  const { products, orders, refunds, notices, deposit } = describeShop(shop)
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
        stateText: t(keyOf('office.state.', order.state)),
        numbers: t('office.numbers', {
          used: String(order.usedQuantity),
          refunded: String(order.refundedQuantity),
          all: String(order.quantity),
        }),
      })),
    ),
    refunds: newest(
      t,
      refunds.map((refund) => ({ ...refund, stateText: t(keyOf('office.state.', refund.state)) })),
    ),
    notices: newest(
      t,
      notices.map((notice) => ({ ...notice, ...noticeTexts(t, notice) })),
    ),
    mistaken: [...switches],
    groups: (Object.keys(MISTAKE_GROUPS) as MistakeGroup[]).map((group) => ({
      title: t(`office.mistakes_of.${group}`),
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

/** Converts a form to the input of the control API. */
type Read = (form: URLSearchParams, shop: Shop) => Fields

const unchanged: Read = (form) => Object.fromEntries(form)

const yesOrNo = (value: string | null, yes: string, no: string): boolean | undefined =>
  value === yes ? true : value === no ? false : undefined

/** The form sends every field, but only different values are changes. Missing and empty fields stay as they are. */
const changedFields: Read = (form, shop) => {
  const partnerDealId = form.get('partnerDealId') ?? ''
  const product = shop.products.get(partnerDealId)
  const onSale = yesOrNo(form.get('onSale'), 'yes', 'no')
  const shown: Fields = product ? describeProduct(product) : {}
  const changed = [...form].filter(([name, value]) => name !== 'onSale' && !isShown(shown[name], value))
  return {
    ...Object.fromEntries(changed),
    partnerDealId,
    ...(onSale === undefined || onSale === shown.onSale ? {} : { onSale }),
  }
}

const isShown = (shown: unknown, value: string): boolean =>
  typeof shown === 'number' ? Number(value) === shown : value === shown

const FORMS: Readonly<Record<Action, Read>> = {
  consume: unchanged,
  'decide-refund': (form) => ({
    ...Object.fromEntries(form),
    approve: yesOrNo(form.get('decision'), 'approve', 'refuse'),
  }),
  'change-product': changedFields,
  'add-product': unchanged,
}

const VIEWS = fileURLToPath(new URL('views', ROOT))
const require = createRequire(import.meta.url)
const PICO = require.resolve('@picocss/pico/css/pico.classless.min.css')
const INTER = require.resolve('@fontsource-variable/inter/files/inter-latin-wght-normal.woff2')

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
export function registerOffice(app: FastifyInstance, shop: Shop, switches: Switches): void {
  const eta = new Eta({ views: VIEWS, cache: true })
  const show = (request: FastifyRequest, reply: FastifyReply, result: Result) => {
    const locale = chooseLocale({ acceptLanguage: request.headers['accept-language'] })
    return reply
      .headers({ ...HEADERS, Vary: 'Accept-Language' })
      .type('text/html; charset=utf-8')
      .send(eta.render('demo-office/page', officeView(shop, switches, locale, result)))
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
  file(app, 'pico.classless.min.css', 'text/css; charset=utf-8', readFileSync(PICO))
  file(app, 'office.css', 'text/css; charset=utf-8', readFileSync(`${VIEWS}/assets/demo-office.css`))
  file(app, 'inter-latin-wght-normal.woff2', 'font/woff2', readFileSync(INTER))
  for (const action of Object.keys(ACTIONS) as Action[]) {
    form(action, async (fields) =>
      (await act(shop, action, FORMS[action](fields, shop))).length > 0 ? action : 'unchanged',
    )
  }
  form('mistakes', (fields) => {
    switchMistakes(switches, { mistakes: fields.getAll('mistakes') })
    return switches.size > 0 ? 'mistakes' : 'honest'
  })

  app.setErrorHandler((error, request, reply) => {
    if (!(error instanceof Refusal)) throw error
    return show(request, reply.code(400), { problem: error.message })
  })
}

function file(app: FastifyInstance, name: string, type: string, content: Buffer): void {
  app.get(`/office/${name}`, (_request, reply) =>
    reply
      .headers({ ...HEADERS, 'Cache-Control': 'max-age=300' })
      .type(type)
      .send(content),
  )
}
