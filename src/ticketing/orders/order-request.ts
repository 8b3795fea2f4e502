import { InvalidInput, type OutputOf } from '../../platform/lib/json/input.ts'
import { stringifyLossless } from '../../platform/lib/json/lossless.ts'
import { localized } from '../../platform/lib/localized-text.ts'
import type { findOffer } from '../catalogue/index.ts'
import type { RequestOf } from '../partner-calls/index.ts'
import type { NewOrder } from './wire.ts'

export type CreateRequest = RequestOf<'order-create'>

const givenFields = (input: NewOrder): Partial<CreateRequest> =>
  withoutGaps({
    partnerDealId: input.partner_deal_id,
    mtDealId: input.mt_deal_id,
    buyPrice: input.buy_price,
    unitPrice: input.unit_price,
    totalPrice: input.total_price,
    quantity: input.quantity,
    travelDate: input.travel_date,
    visitors: input.visitors,
    contactPerson: input.contact_person,
    partnerPrimaryKey: input.partner_primary_key,
    levelIds: input.level_ids,
  })

type Given<Fields> = { [Name in keyof Fields]?: Exclude<Fields[Name], undefined> }

const withoutGaps = <Fields extends object>(fields: Fields): Given<Fields> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Given<Fields>

/**
 * The complete request: missing fields come from the pulled product. Throws InvalidInput for fields that neither has.
 */
export function completeRequest(orderId: bigint, input: NewOrder, offer: OutputOf<typeof findOffer>): CreateRequest {
  const mtDealId = input.mt_deal_id ?? offer?.mt_deal_id
  const unitPrice = input.unit_price ?? offer?.unit_price ?? undefined
  const buyPrice = input.buy_price ?? offer?.buy_price ?? undefined
  const missing = Object.entries({ mt_deal_id: mtDealId, unit_price: unitPrice, buy_price: buyPrice }).filter(
    ([, value]) => value === undefined,
  )
  if (mtDealId === undefined || unitPrice === undefined || buyPrice === undefined) {
    const why = localized(offer ? 'required-no-price' : 'required-no-product')
    throw new InvalidInput(missing.map(([field]) => ({ field, problem: why })))
  }
  // In fen, so that 0.1 × 3 stays 0.3.
  const totalPrice = input.total_price ?? Math.round(unitPrice * 100 * input.quantity) / 100
  return {
    ...givenFields(input),
    orderId,
    partnerDealId: input.partner_deal_id,
    mtDealId,
    buyPrice,
    unitPrice,
    totalPrice,
    quantity: input.quantity,
  }
}

/** Whether the input differs from the stored request; fields that the input leaves out cannot differ. */
export const differs = (stored: Readonly<Record<string, unknown>>, input: NewOrder): boolean =>
  Object.entries(givenFields(input)).some(([field, value]) => canonical(stored[field]) !== canonical(value))

/** Equal text for equal values, whatever order PostgreSQL keeps names in; an id is the same as number, text or bigint. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`
  if (value === null || typeof value !== 'object') return stringifyLossless({ value: String(value) })
  const fields = Object.entries(value).filter(([, field]) => field !== undefined)
  return `{${fields.sort(([one], [other]) => (one < other ? -1 : 1)).map(([name, field]) => `${name}:${canonical(field)}`)}}`
}
