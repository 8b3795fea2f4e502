import type { Deps } from '../../../platform/deps.ts'
import type { OutputOf } from '../../../platform/lib/json/input.ts'
import { keyOf, type Locale, type Translate, translator } from '../../../platform/lib/web/locale.ts'
import type { InterfaceName } from '../../../ticketing/interfaces/index.ts'
import { findTrialOrder, trialOrders } from '../../../ticketing/orders/index.ts'
import type { PartnerWithSecrets } from '../../../ticketing/partners/index.ts'
import type { RunDeps } from '../../certification/index.ts'
import { docsLink } from '../docs/notices.ts'
import { noSuchEntry } from '../errors.ts'
import { findExchange, shownCheck } from '../pages/log-line.ts'
import { detailText, interfaceName, recordStateText } from '../texts.ts'
import type { BodyProblem } from './body.ts'
import { editable, firstBody, firstOrder, ownExample } from './example.ts'
import { actionsFor, ticketsLeft } from './orders.ts'
import { coveredInterfaces, pendingCodes, resultOf } from './send.ts'
import { EXPECTED_OUTCOMES, type ExpectedOutcome, type PLAY_ORDER_FIELDS, type PlaySigning, SIGNINGS } from './wire.ts'

const ORDERS_SHOWN = 20

export function orderForPage(order: OutputOf<typeof trialOrders>[number], locale: Locale) {
  const t = translator(locale)
  return {
    id: String(order.order_id),
    product: order.partner_deal_id,
    state: recordStateText('order', order.state, t),
    madeAt: order.created_at.toISOString(),
    quantity: order.quantity,
    used: order.used_quantity,
    refunded: order.refunded_quantity,
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

/**
 * What an interface's form shows: what was typed, a call that was made, an example, or by default the last body sent.
 */
export interface Shown {
  readonly typed?: { readonly body: string; readonly sign: PlaySigning; readonly expect: ExpectedOutcome }
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
  const checks = findings.map((finding) => ({ facts: [], doc: '', ...shownCheck(finding, t) }))
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
