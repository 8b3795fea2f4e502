import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { listProducts } from '../../catalogue/index.ts'
import { findCurrentRun } from '../../certification/index.ts'
import type { Deps } from '../../deps.ts'
import type { InterfaceName } from '../../interfaces/index.ts'
import { MASK } from '../../lib/crypto/masking.ts'
import { parseLossless, prettyJson, prettyLossless } from '../../lib/json/lossless.ts'
import { addDays, beijingDate } from '../../lib/time-zone.ts'
import { isSold, newOrderId, trialOrders } from '../../orders/index.ts'
import { fieldReference } from '../docs/reference.ts'
import { lastBodySent } from '../traffic-entry-store.ts'
import { ownBody } from './body.ts'

/** Cache: the request of each interface with every field, the same in every language. */
const examples = new Map<string, string>()

function exampleOf(name: InterfaceName): string {
  if (examples.size === 0) {
    for (const { name: of, parts } of fieldReference('en').interfaces) examples.set(of, parts[0]?.example ?? '{}')
  }
  return examples.get(name) ?? '{}'
}

/** The product that the partner tests with, or one that the platform knows of it; empty if there is none. */
async function ownProduct(deps: Deps, partnerId: bigint): Promise<string> {
  const chosen = (await findCurrentRun(deps, partnerId))?.choice.products.main
  return chosen ?? (await listProducts(deps, { partner_id: partnerId }))[0]?.partner_deal_id ?? ''
}

/** What the form of an order begins with: as in the test run, where there is one. */
export async function firstOrder(deps: Deps, partnerId: bigint): Promise<Record<string, string>> {
  const { quantity = 2, travel_date, unit_price, buy_price } = (await findCurrentRun(deps, partnerId))?.choice ?? {}
  const given = { quantity, travel_date, unit_price, buy_price }
  const texts = Object.entries(given).map(([field, value]) => [field, value === undefined ? '' : String(value)])
  return { ...Object.fromEntries(texts), product: await ownProduct(deps, partnerId) }
}

const WEEK = 6

const entry = z.record(z.string(), z.unknown())
const readExample = z.object({ value: z.object({ body: entry.or(z.array(entry)).default({}) }) })

/**
 * The example of the field reference about the partner's own product and newest order of the playground; about a new
 * order where there is none, and for order create.
 */
export async function ownExample(deps: Deps, partnerId: bigint, name: InterfaceName): Promise<string> {
  const { body } = readExample.parse(parseLossless(Buffer.from(exampleOf(name)))).value
  const product = await ownProduct(deps, partnerId)
  const [order] = name === 'order-create' ? [] : await trialOrders(deps.db, partnerId, 1)
  const tomorrow = addDays(beijingDate(deps.clock.now()), 1)
  const own: Record<string, unknown> = {
    orderId: order?.order_id ?? newOrderId(deps.config.ORDER_ID_BITS),
    ...(order ? { partnerOrderId: order.partner_order_id ?? '' } : {}),
    ...(product ? { partnerDealId: order?.partner_deal_id ?? product, partnerDealIds: [product] } : {}),
    refundId: randomUUID(),
    travelDate: tomorrow,
    startTime: tomorrow,
    endTime: addDays(tomorrow, WEEK),
  }
  const mine = (fields: z.output<typeof entry>) =>
    Object.fromEntries(Object.entries(fields).map(([field, value]) => [field, field in own ? own[field] : value]))
  return prettyLossless({ partnerId, body: Array.isArray(body) ? body.map(mine) : mine(body) })
}

/** What the form of an interface begins with: the last body that was sent there, else an example. */
export async function firstBody(deps: Deps, partnerId: bigint, name: InterfaceName): Promise<string> {
  const last = await lastBodySent(deps.db, partnerId, name)
  if (last === undefined || last.includes(MASK)) return ownExample(deps, partnerId, name)
  const own = ownBody(last, partnerId)
  // One that a visitor has bought is not to be touched by a careless click.
  const isUsable = 'text' in own && !(own.orderId !== undefined && (await isSold(deps.db, partnerId, own.orderId)))
  return isUsable ? editable(own.text) : ownExample(deps, partnerId, name)
}

/** Lines that somebody has made stay as they are. */
export const editable = (text: string): string => (text.includes('\n') ? text : (prettyJson(text) ?? text))
