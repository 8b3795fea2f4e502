import { OPERATOR } from '../../platform/history/index.ts'
import type { InputOf } from '../../platform/lib/json/input.ts'
import { LIST_LIMITS } from '../../platform/lib/json/shape.ts'
import { localized } from '../../platform/lib/localized-text.ts'
import { RefusedRequest } from '../../platform/lib/web/rescode.ts'
import {
  findOffer,
  findProduct,
  keysOnSale,
  markProduct,
  pullPrices,
  pullProduct,
} from '../../ticketing/catalogue/index.ts'
import { createOrder } from '../../ticketing/orders/index.ts'
import { statedNow } from '../../ticketing/partner-calls/index.ts'
import { offers, requireDayAhead, travelDate } from '../test-plan/index.ts'
import type { OrderRole } from './run-store.ts'
import type { StepContext } from './step-context.ts'
import { testVisitors } from './steps/test-visitors.ts'

type NewOrder = InputOf<typeof createOrder>

/** What preparing an order needs: a test step has it, and so does the playground, which makes orders outside a run. */
export type OrderContext = Pick<StepContext, 'deps' | 'partner' | 'choice' | 'cause' | 'prepare'>

/** Product fields that decide how it is ordered. */
interface ProductDetails {
  readonly useDateMode?: unknown
  readonly visitorInfoType?: unknown
  readonly visitorInfoGroupSize?: unknown
  readonly minBuyCount?: unknown
  readonly maxBuyCount?: unknown
}

export const OPEN_DATE = 0
/** visitorInfoType where the product is unknown: one visitor too many does no harm. */
const EVERY_VISITOR = 3

/** How an order differs from the one that the run's choice describes. */
export interface OrderChanges {
  /** Tickets, within the product's limits per order. */
  readonly quantity?: number
  /** Tickets regardless of the product's limits, to see whether the partner refuses. */
  readonly exactQuantity?: number
  /** Yuan per ticket; defaults to the choice's prices, then to those that were pulled. */
  readonly prices?: { readonly unit_price: number; readonly buy_price: number }
}

/**
 * Input for an order as the choice describes it, with made-up visitors. Pulls product and prices first, as before a
 * sale.
 */
export async function orderInput(
  context: OrderContext,
  partner_deal_id: string,
  { quantity: wanted, exactQuantity, prices }: OrderChanges = {},
): Promise<NewOrder> {
  const { deps, choice, partner } = context
  const { partner_id } = partner
  const details = await productDetails(context, partner_deal_id)
  const dated = isDated(context, details)
  const day = travelDate(choice, statedNow(deps))
  const key = dated ? await pullDay(context, partner_deal_id, day) : undefined
  const quantity = exactQuantity ?? quantityFor(details, wanted ?? choice.quantity)
  requirePossible(quantity, partner_deal_id)
  return createOrder.input.parse({
    ...{ partner_id, partner_deal_id, quantity },
    ...{ unit_price: choice.unit_price, buy_price: choice.buy_price, ...prices },
    ...testVisitors(details, quantity),
    ...(dated ? { travel_date: day } : {}),
    ...(key ? { partner_primary_key: key } : {}),
  })
}

/** Within the product's limits per order: the partner would rightly refuse anything else. */
function quantityFor({ minBuyCount, maxBuyCount }: ProductDetails, wanted: number): number {
  const max = Number(maxBuyCount) || Number.POSITIVE_INFINITY
  return Math.max(Math.min(wanted, max), Number(minBuyCount) || 1)
}

/** minBuyCount may be any number, and each ticket may need a visitor. */
function requirePossible(quantity: number, product: string): void {
  const most = LIST_LIMITS.vouchers
  if (quantity <= most) return
  throw new RefusedRequest(localized('least-quantity-too-large', { product, count: quantity, most }))
}

/** If the product does not say, the choice decides: it has a calendar, or names a day. */
const isDated = ({ choice }: OrderContext, { useDateMode }: ProductDetails): boolean =>
  useDateMode === undefined
    ? choice.travel_date !== undefined || offers(choice, 'price-calendar') || offers(choice, 'level-price-calendar')
    : Number(useDateMode) !== OPEN_DATE

/** The product as the partner describes it; without product pull, as the platform already knows it. */
async function productDetails(context: OrderContext, partnerDealId: string): Promise<ProductDetails> {
  const { partner_id: partnerId } = context.partner
  if (!offers(context.choice, 'product-pull')) {
    const named = { partnerId, partnerDealId }
    await markProduct(context.deps.db, named, { cause: OPERATOR, now: context.deps.clock.now() })
    const known = await findProduct(context.deps.db, named)
    return { visitorInfoType: EVERY_VISITOR, ...known?.details }
  }
  const product = { partner_id: partnerId, partner_deal_id: partnerDealId }
  await context.prepare((deps) => pullProduct(deps, product, { cause: context.cause }))
  return (await findProduct(context.deps.db, { partnerId, partnerDealId }))?.details ?? {}
}

/** Pulls the day's prices from whichever calendar the partner offers; returns the key of a session on sale. */
async function pullDay(context: OrderContext, partner_deal_id: string, day: string): Promise<string | undefined> {
  const { choice, partner } = context
  const { partner_id } = partner
  const level = offers(choice, 'level-price-calendar') && hasLevels(context, partner_deal_id)
  if (!level && !offers(choice, 'price-calendar')) return undefined
  const range = { partner_id, partner_deal_id, from: day, to: day, level }
  await context.prepare((deps) => pullPrices(deps, range, { cause: context.cause }))
  const keys = await keysOnSale(context.deps.db, { partnerId: partner_id, partnerDealId: partner_deal_id }, day)
  return keys.find((key) => key !== '')
}

/** The product chosen for levels, or any product if there is no plain calendar. */
const hasLevels = ({ choice }: OrderContext, partnerDealId: string): boolean =>
  choice.products.level === partnerDealId || !offers(choice, 'price-calendar')

export interface OrderOptions extends OrderChanges {
  /** Bits of the order id; defaults to ORDER_ID_BITS. */
  readonly idBits?: number
}

export type OrderInput = NewOrder & { readonly order_id: bigint }

/** Input for an order of the run, with a new id linked to the run. Fails the step if no price is known. */
export async function runOrderInput(
  context: StepContext,
  role: OrderRole,
  partnerDealId: string,
  { idBits, ...changes }: OrderOptions = {},
): Promise<OrderInput> {
  const input = await orderInput(context, partnerDealId, changes)
  if (input.travel_date) requireDayAhead(input.travel_date, context.deps.clock.now())
  await requireOffer(context, input)
  return { ...input, order_id: await context.newOrder(role, idBits) }
}

/** Fails the step unless product and prices are known, whether pulled or chosen. */
async function requireOffer({ deps, choice, require }: StepContext, input: NewOrder): Promise<void> {
  const { partner_id: partnerId, partner_deal_id: product, travel_date: date = null, partner_primary_key } = input
  const key = { partnerId, partnerDealId: product, date, primaryKey: partner_primary_key ?? '' }
  const offer = await findOffer(deps.db, key)
  const prices = [input.unit_price ?? offer?.unit_price, input.buy_price ?? offer?.buy_price]
  const isKnown = offer !== undefined && prices.every((price) => price !== undefined && price !== null)
  if (isKnown) return
  const expected = date === null ? localized('price-of', { product }) : localized('price-on', { product, day: date })
  const hasCalendar = offers(choice, 'price-calendar') || offers(choice, 'level-price-calendar')
  const actual = date === null || hasCalendar ? localized('missing') : localized('no-calendar')
  await require('platform', false, { expected, actual })
}
