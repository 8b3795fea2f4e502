import { OPERATOR } from '../../platform/history/index.ts'
import type { InputOf } from '../../platform/lib/json/input.ts'
import { localized } from '../../platform/lib/localized-text.ts'
import { beijingDate } from '../../platform/lib/time-zone.ts'
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
import { offers, travelDate } from '../test-plan/index.ts'
import type { OrderRole } from './run-store.ts'
import type { StepContext } from './step-context.ts'
import { testVisitors } from './steps/test-visitors.ts'

type NewOrder = InputOf<typeof createOrder>

/** What an order is prepared with: a test step has it, and so has whoever makes one outside of a run. */
export type Preparing = Pick<StepContext, 'deps' | 'partner' | 'choice' | 'cause' | 'prepare'>

/** Fields of a product that decide how it is ordered (REFERENCE "Product"). */
interface Details {
  readonly useDateMode?: unknown
  readonly visitorInfoType?: unknown
  readonly visitorInfoGroupSize?: unknown
  readonly minBuyCount?: unknown
  readonly maxBuyCount?: unknown
}

export const OPEN_DATE = 0
/** visitorInfoType where nothing is known: a visitor too many does no harm. */
const EVERY_VISITOR = 3

/** In what an order differs from the one that the choice describes. */
export interface OrderChanges {
  /** Tickets; as many of them as the product lets a buyer have. */
  readonly quantity?: number
  /** Tickets whatever the product says, to try what its partner refuses. */
  readonly exactQuantity?: number
  /** Yuan a ticket; without them and without any in the choice, as pulled. */
  readonly prices?: { readonly unit_price: number; readonly buy_price: number }
}

/** An order as the choice wants it, with invented visitors; product and prices are pulled first, as before a sale. */
export async function orderInput(
  context: Preparing,
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
  return createOrder.input.parse({
    ...{ partner_id, partner_deal_id, quantity },
    ...{ unit_price: choice.unit_price, buy_price: choice.buy_price, ...prices },
    ...testVisitors(details, quantity),
    ...(dated ? { travel_date: day } : {}),
    ...(key ? { partner_primary_key: key } : {}),
  })
}

/** No buyer can order fewer or more tickets than the product says; its partner would refuse that, and rightly. */
function quantityFor({ minBuyCount, maxBuyCount }: Details, wanted: number): number {
  const most = Number(maxBuyCount) || Number.POSITIVE_INFINITY
  return Math.max(Math.min(wanted, most), Number(minBuyCount) || 1)
}

/** If the product says nothing about dates, the choice decides: it has a calendar, or a day was given. */
const isDated = ({ choice }: Preparing, { useDateMode }: Details): boolean =>
  useDateMode === undefined
    ? choice.travel_date !== undefined || offers(choice, 'price-calendar') || offers(choice, 'level-price-calendar')
    : Number(useDateMode) !== OPEN_DATE

/** As the partner describes the product; without product pull, what is known from elsewhere. */
async function productDetails(context: Preparing, partnerDealId: string): Promise<Details> {
  const { partner_id: partnerId } = context.partner
  if (!offers(context.choice, 'product-pull')) {
    const named = { partnerId, partnerDealId, saleState: null }
    await markProduct(context.deps.db, named, { cause: OPERATOR, now: context.deps.clock.now() })
    const known = await findProduct(context.deps.db, named)
    return { visitorInfoType: EVERY_VISITOR, ...known?.details }
  }
  const product = { partner_id: partnerId, partner_deal_id: partnerDealId }
  await context.prepare((deps) => pullProduct(deps, product, { cause: context.cause }))
  return (await findProduct(context.deps.db, { partnerId, partnerDealId }))?.details ?? {}
}

/** Pulls the prices of the day from the calendar that the choice says there is; the key of a session that is on sale. */
async function pullDay(context: Preparing, partner_deal_id: string, day: string): Promise<string | undefined> {
  const { choice, partner } = context
  const { partner_id } = partner
  const level = offers(choice, 'level-price-calendar') && isOfLevels(context, partner_deal_id)
  if (!level && !offers(choice, 'price-calendar')) return undefined
  const range = { partner_id, partner_deal_id, from: day, to: day, level }
  await context.prepare((deps) => pullPrices(deps, range, { cause: context.cause }))
  const keys = await keysOnSale(context.deps.db, { partnerId: partner_id, partnerDealId: partner_deal_id }, day)
  return keys.find((key) => key !== '')
}

/** The product that was chosen for levels, or any when there is no plain calendar. */
const isOfLevels = ({ choice }: Preparing, partnerDealId: string): boolean =>
  choice.products.level === partnerDealId || !offers(choice, 'price-calendar')

/** In what an order of a step differs from the usual one. */
export interface OrderOptions extends OrderChanges {
  /** Bits of the order's id; ORDER_ID_BITS if left out. */
  readonly idBits?: number
}

/** A new order that platform and partner can make. */
export type OrderInput = NewOrder & { readonly order_id: bigint }

/** Throws when the day that was chosen is over: a run may have been left for days, and no partner sells yesterday. */
export function requireDayAhead({ deps }: Pick<StepContext, 'deps'>, day: string): string {
  if (day < beijingDate(deps.clock.now())) throw new RefusedRequest(localized('travel-date-over', { day }))
  return day
}

/** What an order of the run is made of, with an id that belongs to the run. Fails the step when no price is known. */
export async function runOrderInput(
  context: StepContext,
  role: OrderRole,
  partnerDealId: string,
  { idBits, ...changes }: OrderOptions = {},
): Promise<OrderInput> {
  const input = await orderInput(context, partnerDealId, changes)
  if (input.travel_date) requireDayAhead(context, input.travel_date)
  await requireOffer(context, input)
  return { ...input, order_id: await context.newOrder(role, idBits) }
}

/** The product and its price, pulled or chosen: without them there is nothing to order. */
async function requireOffer({ deps, require }: StepContext, input: NewOrder): Promise<void> {
  const { partner_id: partnerId, partner_deal_id: product, travel_date: date = null, partner_primary_key } = input
  const key = { partnerId, partnerDealId: product, date, primaryKey: partner_primary_key ?? '' }
  const offer = await findOffer(deps.db, key)
  const prices = [input.unit_price ?? offer?.unit_price, input.buy_price ?? offer?.buy_price]
  const isKnown = offer !== undefined && prices.every((price) => price !== undefined && price !== null)
  if (isKnown) return
  const expected = date === null ? localized('price-of', { product }) : localized('price-on', { product, day: date })
  await require('platform', false, { expected, actual: localized('missing') })
}
