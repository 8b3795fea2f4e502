import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import type { Deps } from '../../../platform/deps.ts'
import { MASK } from '../../../platform/lib/crypto/masking.ts'
import { parseLossless, prettyJson, prettyLossless } from '../../../platform/lib/json/lossless.ts'
import { listOf } from '../../../platform/lib/json/shape.ts'
import { addDays, beijingDate } from '../../../platform/lib/time-zone.ts'
import { listProducts } from '../../../ticketing/catalogue/index.ts'
import type { InterfaceName } from '../../../ticketing/interfaces/index.ts'
import { findNamedOrder, newOrderId, trialOrders } from '../../../ticketing/orders/index.ts'
import type { PartnerWithSecrets } from '../../../ticketing/partners/index.ts'
import { findCurrentRun } from '../../certification/index.ts'
import { isDayOver } from '../../test-plan/index.ts'
import { fieldReference } from '../docs/reference.ts'
import { lastBodySent } from '../traffic/entry-store.ts'
import { bodyToSend, isSelling } from './body.ts'

/** Cache: an example request for each interface, the same in every language. */
const examples = new Map<string, string>()

function exampleOf(name: InterfaceName): string {
  if (examples.size === 0) {
    for (const { name: of, parts } of fieldReference('en').interfaces) examples.set(of, parts[0]?.example ?? '{}')
  }
  return examples.get(name) ?? '{}'
}

/** The product of the partner's current run, or any known product; empty if there is none. */
async function ownProduct(deps: Deps, partnerId: bigint): Promise<string> {
  const chosen = (await findCurrentRun(deps, partnerId))?.choice.products.main
  return chosen ?? (await listProducts(deps, { partner_id: partnerId }))[0]?.partner_deal_id ?? ''
}

/** Initial values of the order form, from the current run if there is one. */
export async function firstOrder(deps: Deps, partnerId: bigint): Promise<Record<string, string>> {
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
export async function ownExample(deps: Deps, partner: PartnerWithSecrets, name: InterfaceName): Promise<string> {
  const { partner_id: partnerId } = partner
  const { body } = readExample.parse(parseLossless(Buffer.from(exampleOf(name)))).value
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
export async function firstBody(deps: Deps, partner: PartnerWithSecrets, name: InterfaceName): Promise<string> {
  const last = await lastBodySent(deps.db, partner.partner_id, name)
  if (last === undefined || last.includes(MASK)) return ownExample(deps, partner, name)
  // The last call may be the platform's own, about a real order, which must not be sent by hand.
  const own = await bodyToSend(deps, partner, name, last)
  return 'text' in own ? editable(own.text) : ownExample(deps, partner, name)
}

/** Indents JSON, unless it already has line breaks. */
export const editable = (text: string): string => (text.includes('\n') ? text : (prettyJson(text) ?? text))
