import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import type { Deps } from '../../../platform/deps.ts'
import { MASK } from '../../../platform/lib/crypto/masking.ts'
import type { OutputOf } from '../../../platform/lib/json/input.ts'
import { parseLossless, prettyJson, prettyLossless } from '../../../platform/lib/json/lossless.ts'
import { listOf } from '../../../platform/lib/json/shape.ts'
import { addDays, beijingDate } from '../../../platform/lib/time-zone.ts'
import { keyOf, type Locale, type Translate, translator } from '../../../platform/lib/web/locale.ts'
import { listProducts } from '../../../ticketing/catalogue/index.ts'
import type { InterfaceName } from '../../../ticketing/interfaces/index.ts'
import { findNamedOrder, findTrialOrder, newOrderId, trialOrders } from '../../../ticketing/orders/index.ts'
import type { PartnerWithSecrets } from '../../../ticketing/partners/index.ts'
import { findCurrentRun, type RunDeps } from '../../certification/index.ts'
import { isDayOver } from '../../test-plan/index.ts'
import { docsLink } from '../docs/notices.ts'
import { fieldReference } from '../docs/reference.ts'
import { noSuchEntry } from '../errors.ts'
import { findExchange, shownCheck } from '../pages/log-line.ts'
import { detailText, interfaceName, recordStateText } from '../texts.ts'
import { lastBodySent } from '../traffic/store.ts'
import { type BodyProblem, bodyToSend, isSelling } from './body.ts'
import { actionsFor, ticketsLeft } from './orders.ts'
import { coveredInterfaces, pendingCodes, resultOf } from './send.ts'
import { EXPECTED_OUTCOMES, type ExpectedOutcome, type PLAY_ORDER_FIELDS, SIGNINGS, type Written } from './wire.ts'

/** The product of the partner's current run, or any known product; empty if there is none. */
async function ownProduct(deps: Deps, partnerId: bigint): Promise<string> {
  const chosen = (await findCurrentRun(deps, partnerId))?.choice.products.main
  return chosen ?? (await listProducts(deps, { partner_id: partnerId }))[0]?.partner_deal_id ?? ''
}

/** Initial values of the order form, from the current run if there is one. */
async function firstOrder(deps: Deps, partnerId: bigint): Promise<Record<string, string>> {
  const choice = (await findCurrentRun(deps, partnerId))?.choice
  const { quantity = 2, travel_date, unit_price, buy_price } = choice ?? {}
  const isOver = isDayOver({ travel_date }, deps.clock.now())
  const given = { quantity, travel_date: isOver ? undefined : travel_date, unit_price, buy_price }
  const texts = Object.entries(given).map(([field, value]) => [field, value === undefined ? '' : String(value)])
  return { ...Object.fromEntries(texts), product: await ownProduct(deps, partnerId) }
}

const WEEK = 6

const fields = z.record(z.string(), z.unknown())
const readExample = z.object({ value: z.object({ body: z.union([fields, listOf('products', fields)]).default({}) }) })

/**
 * The field reference's example, with the partner's own product and newest playground order; with a new order id if
 * there is none, and for order create unless the partner sells, because then only known orders may be named.
 */
async function ownExample(deps: Deps, partner: PartnerWithSecrets, name: InterfaceName): Promise<string> {
  const { partner_id: partnerId } = partner
  const [request] = fieldReference('en').interfaces.find((entry) => entry.name === name)?.parts ?? []
  const { body } = readExample.parse(parseLossless(Buffer.from(request?.example ?? '{}'))).value
  const product = await ownProduct(deps, partnerId)
  const isNew = name === 'order-create' && !(await isSelling(deps, partner))
  const [order] = isNew ? [] : await trialOrders(deps.db, partnerId, 1)
  const named = order && (await findNamedOrder(deps.db, order.order_id))
  const tomorrow = addDays(beijingDate(deps.clock.now()), 1)
  const own: Record<string, unknown> = {
    orderId: order?.order_id ?? newOrderId(deps.config.ORDER_ID_BITS),
    partnerOrderId: order?.partner_order_id ?? '',
    ...(product ? { partnerDealId: order?.partner_deal_id ?? product, partnerDealIds: [product] } : {}),
    ...(named ? { voucherList: named.vouchers, credentialList: [] } : {}),
    refundId: randomUUID(),
    refundSerialNo: randomUUID(),
    travelDate: tomorrow,
    startTime: tomorrow,
    endTime: addDays(tomorrow, WEEK),
  }
  const mine = (given: z.output<typeof fields>) =>
    Object.fromEntries(Object.entries(given).map(([field, value]) => [field, field in own ? own[field] : value]))
  return prettyLossless({ partnerId, body: Array.isArray(body) ? body.map(mine) : mine(body) })
}

/** Initial body for an interface: the last one sent there, or an example. */
async function firstBody(deps: Deps, partner: PartnerWithSecrets, name: InterfaceName): Promise<string> {
  const last = await lastBodySent(deps.db, partner.partner_id, name)
  if (last === undefined || last.includes(MASK)) return ownExample(deps, partner, name)
  // The last call may be the platform's own, about a real order, which must not be sent by hand.
  const own = await bodyToSend(deps, partner, name, last)
  return 'text' in own ? editable(own.text) : ownExample(deps, partner, name)
}

/** Indents JSON, unless it already has line breaks. */
const editable = (text: string): string => (text.includes('\n') ? text : (prettyJson(text) ?? text))

const ORDERS_SHOWN = 20

export function orderForPage(order: OutputOf<typeof trialOrders>[number], locale: Locale) {
  const t = translator(locale)
  return {
    ...order,
    state: recordStateText('order', order.state, t),
    left: ticketsLeft(order),
    actions: actionsFor(order).map((action) => ({ id: action, name: t(keyOf('sandbox.play.action_', action)) })),
  }
}

/** Why nothing was sent. */
export const problemText = (problem: BodyProblem, t: Translate): string =>
  t(keyOf('sandbox.play.problem_', problem.kind), {
    problem: 'detail' in problem ? detailText(problem.detail, t) : '',
  })

const fieldProblem = (field: TypedOrder['problems'][number]): string =>
  keyOf('sandbox.play.problem_', field.endsWith('_price') ? 'price' : field)

/** The order form as typed, and its invalid fields. */
export interface TypedOrder {
  readonly values: Readonly<Record<string, string>>
  readonly problems: readonly (typeof PLAY_ORDER_FIELDS)[number][]
}

export async function playPage(deps: Deps, partner: PartnerWithSecrets, locale: Locale, typed?: TypedOrder) {
  const { partner_id: partnerId } = partner
  const t = translator(locale)
  const interfaces = coveredInterfaces(partner)
  const orders = await trialOrders(deps.db, partnerId, ORDERS_SHOWN)
  return {
    interfaces: interfaces.map(({ name, url }) => ({ name, url, title: interfaceName(name, t) })),
    makesOrders: interfaces.some(({ name }) => name === 'order-create'),
    orders: orders.map((order) => orderForPage(order, locale)),
    values: typed?.values ?? (await firstOrder(deps, partnerId)),
    problems: Object.fromEntries((typed?.problems ?? []).map((field) => [field, t(fieldProblem(field))])),
  }
}

/** The form shows what was typed, a call that was made, an example, or by default the last body sent. */
export interface Shown {
  readonly typed?: Written
  readonly call?: string | undefined
  readonly expect?: ExpectedOutcome
  readonly example?: boolean
}

/** Throws 20007 (404) if the interface has no URL, or the call is not one of this partner's at this interface. */
export async function interfacePage(
  deps: RunDeps,
  partner: PartnerWithSecrets,
  name: InterfaceName,
  shown: Shown,
  locale: Locale,
) {
  const { partner_id: partnerId } = partner
  const t = translator(locale)
  const covered = coveredInterfaces(partner).find((entry) => entry.name === name)
  if (!covered) throw noSuchEntry()
  const { call: id, expect: expectedOutcome = 'success', typed, example = false } = shown
  const found = id === undefined ? undefined : await resultOf(deps, partner, { name, id, expectedOutcome })
  if (id !== undefined && !found) throw noSuchEntry()
  const sign = typed?.sign ?? found?.sign ?? 'right'
  const pending = pendingCodes(name)
  const body = async () => {
    if (typed) return typed.body
    if (found) return editable(found.body)
    return example ? ownExample(deps, partner, name) : firstBody(deps, partner, name)
  }
  const outcomes = EXPECTED_OUTCOMES.filter((one) => pending.length > 0 || one === 'success' || one === 'failure')
  return {
    ...covered,
    title: interfaceName(name, t),
    docs: docsLink(name, 'request', ''),
    body: await body(),
    signs: SIGNINGS.map((signing) => ({
      id: signing,
      name: t(keyOf('sandbox.play.sign_', signing)),
      chosen: signing === sign,
    })),
    outcomes: outcomes.map((outcome) => ({
      ...{ id: outcome, name: t(keyOf('sandbox.play.expect_', outcome), { codes: pending.join(' / ') }) },
      chosen: outcome === (typed?.expect ?? expectedOutcome),
    })),
    result: found && id !== undefined ? await shownResult(deps, partnerId, { ...found, id }, locale) : undefined,
  }
}

type Found = NonNullable<Awaited<ReturnType<typeof resultOf>>> & { readonly id: string }

async function shownResult(deps: RunDeps, partnerId: bigint, { id, orderId, findings }: Found, locale: Locale) {
  const t = translator(locale)
  const order = orderId === undefined ? undefined : await findTrialOrder(deps.db, partnerId, orderId)
  const checks = findings.map((finding) => shownCheck(finding, t))
  const failed = findings.filter(({ passed, level }) => !passed && level !== 'warning').length
  return {
    problems: checks.filter(({ tone }) => tone !== 'good'),
    passed: checks.filter(({ tone }) => tone === 'good'),
    failed,
    warned: findings.filter(({ passed, level }) => !passed && level === 'warning').length,
    exchange: await findExchange({ deps, partnerId, t }, id),
    order: order && orderForPage(order, locale),
  }
}
