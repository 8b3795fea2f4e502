import { randomBytes } from 'node:crypto'
import { CALL_TIMES } from '../../platform/config/call-limits.ts'
import { type Deps, inTransaction } from '../../platform/deps.ts'
import { addSeconds } from '../../platform/lib/clock.ts'
import { InvalidInput, type OutputOf, operation } from '../../platform/lib/json/input.ts'
import { stringifyLossless } from '../../platform/lib/json/lossless.ts'
import { localized } from '../../platform/lib/localized-text.ts'
import { RefusedRequest } from '../../platform/lib/web/rescode.ts'
import { type Entry, findOffer } from '../catalogue/index.ts'
import { orderCreate } from '../interfaces/index.ts'
import {
  type AnswerOf,
  activePartner,
  type CallCause,
  type CallDeps,
  type CallResult,
  callPartner,
  failureOf,
  type RequestOf,
} from '../partner-calls/index.ts'
import type { PartnerWithSecrets } from '../partners/index.ts'
import { changedBy, changeOrder } from './change-order.ts'
import { ASK_AGAIN_IN_S, dropQuery, isLost, queueQuery } from './order-jobs.ts'
import { existingOrder, type OrderResult, recordAsked, resultFor, withOrder } from './order-result.ts'
import { findOrder, insertOrder, type OrderRow, type OrderUpdate, requestOf } from './order-store.ts'
import { queryOrder } from './query-order.ts'
import { isOrderTransition } from './states.ts'
import { TRIAL_KEPT_S } from './trial-store.ts'
import { type NewOrder, newOrder, ticketsPrice } from './wire.ts'

/** What an order is for: a visitor, a test run, or a trial, after which it is deleted (TRIAL_KEPT_S). */
export type OrderPurpose = 'sale' | 'test-run' | 'trial'

/** An order that the caller has moved to `creating`, so that nobody else sends it. */
interface OrderToSend {
  readonly orderId: bigint
  readonly request: CreateRequest
  readonly revision: number
}

/**
 * Creates an order at the partner; it is stored before the call. The same order_id again is the same order: it is
 * returned, or sent again if the partner does not have it; if that is unknown, the partner is queried first. Orders
 * that are no sale are marked as sandbox orders, and so are all orders of a partner in stage sandbox.
 */
export const createOrder = operation(
  newOrder,
  async (deps: CallDeps, input, cause: CallCause, purpose: OrderPurpose = 'sale'): Promise<OrderResult> => {
    const partner = await activePartner(deps, input.partner_id)
    const orderId = input.order_id ?? newOrderId(deps.config.ORDER_ID_BITS)
    const stored = (await findOrder(deps.db, orderId))
      ? undefined
      : await store(deps, partner, orderId, input, { cause, purpose })
    const begun = stored ?? (await resumeOrder(deps, orderId, input, cause))
    return 'request' in begun ? send(deps, partner, begun, cause) : begun
  },
)

/** A random id of exactly so many bits; odd if above 53, so that no double can hold it exactly. */
export function newOrderId(bits: number): bigint {
  const highest = 2n ** BigInt(bits - 1)
  return (highest + BigInt.asUintN(bits - 1, randomBytes(8).readBigUInt64BE())) | (bits > 53 ? 1n : 0n)
}

async function store(
  deps: Deps,
  { partner_id, stage }: PartnerWithSecrets,
  orderId: bigint,
  input: NewOrder,
  { cause, purpose }: { readonly cause: CallCause; readonly purpose: OrderPurpose },
): Promise<OrderToSend | undefined> {
  const { partner_deal_id, travel_date = null, partner_primary_key = '', quantity } = input
  const offered = { partnerId: partner_id, partnerDealId: partner_deal_id, date: travel_date }
  const offer = await findOffer(deps.db, { ...offered, primaryKey: partner_primary_key })
  const request = completeRequest(orderId, input, offer)
  const now = deps.clock.now()
  const order = {
    order_id: orderId,
    partner_id,
    partner_deal_id,
    sandbox: stage === 'sandbox' || purpose !== 'sale',
    delete_after: purpose === 'trial' ? addSeconds(now, TRIAL_KEPT_S) : null,
    quantity,
    buy_price: Number(request.buyPrice),
    unit_price: Number(request.unitPrice),
    total_price: Number(request.totalPrice),
    travel_date,
    request: stringifyLossless(request),
  }
  return inTransaction(deps, async (inside, db) => {
    if (!(await insertOrder(db, order, { cause: changedBy(cause), now }))) return undefined
    await recordCreateAsked(inside, order)
    await queueQuery(inside, order, CALL_TIMES.overS)
    return { orderId, request, revision: 0 }
  })
}

const recordCreateAsked = (
  deps: Deps,
  order: Pick<OrderRow, 'order_id' | 'partner_id' | 'partner_deal_id' | 'quantity'>,
): Promise<void> =>
  recordAsked(deps, 'order_create_asked', order, { partner_deal_id: order.partner_deal_id, quantity: order.quantity })

/** The part of the input that can be compared: removed visitors cannot. */
const comparable = ({ data_removed_at: removed }: OrderRow, input: NewOrder): NewOrder =>
  removed ? { ...input, visitors: undefined, contact_person: undefined } : input

/** Claims an existing order to be sent again if the partner does not have it; otherwise returns it. */
async function resumeOrder(
  deps: CallDeps,
  orderId: bigint,
  input: NewOrder,
  cause: CallCause,
): Promise<OrderToSend | OrderResult> {
  const order = await existingOrder(deps, orderId)
  const stored = await requestOf(deps.db, orderId)
  if (order.partner_id !== input.partner_id || differs(stored, comparable(order, input))) {
    throw new RefusedRequest(localized('order-exists', { order: orderId }))
  }
  if (order.data_removed_at && order.state === 'create_failed') {
    const date = order.data_removed_at.toISOString().slice(0, 10)
    throw new RefusedRequest(localized('order-visitors-removed', { order: orderId, date }))
  }
  const queried = isLost(deps, order) ? await queryOrder(deps, orderId, cause) : undefined
  // Order create is idempotent at the partner, so it may be sent again after any response.
  if (queried?.failure && queried.failure.kind !== 'partner-code') return queried
  const toSend = await withOrder(deps, orderId, async (inside, found) => {
    await recordCreateAsked(inside, found)
    if (found.state !== 'create_failed' && found.state !== 'create_unknown') return undefined
    const update = { state: 'creating', last_code: null, last_describe: null } as const
    await queueQuery(inside, found, CALL_TIMES.overS)
    const { revision } = await changeOrder(inside, found, update, changedBy(cause))
    return { orderId, request: orderCreate.request.parse(stored), revision }
  })
  return toSend ?? resultFor(deps, orderId)
}

async function send(
  deps: CallDeps,
  partner: PartnerWithSecrets,
  { orderId, request, revision }: OrderToSend,
  cause: CallCause,
): Promise<OrderResult> {
  const result = await callPartner(deps, partner, 'order-create', request, { orderId, cause })
  const update = outcomeOf(result)
  await withOrder(deps, orderId, async (inside, order) => {
    // From an outdated call only a success counts.
    if (order.revision !== revision && update.state !== 'created') return
    // The order may have been queried and paid since: a late response undoes none of that.
    const open = order.state === 'creating' || order.state === 'create_unknown'
    if (!open || !isOrderTransition(order.state, update.state)) return
    await changeOrder(inside, order, update, { kind: 'call', id: result.callId })
    if (update.state === 'create_unknown') await queueQuery(inside, order, ASK_AGAIN_IN_S)
    else await dropQuery(inside.db, orderId)
  })
  return resultFor(deps, orderId, failureOf(result))
}

type Created = Pick<OrderUpdate, 'state' | 'last_code' | 'last_describe'> & Partial<OrderUpdate>

function outcomeOf(result: CallResult<AnswerOf<'order-create'>>): Created {
  if (result.outcome === 'success') {
    const { partnerOrderId } = result.answer.body
    return { state: 'created', partner_order_id: partnerOrderId, last_code: 200, last_describe: null }
  }
  if (result.outcome === 'pending') {
    return { state: 'create_unknown', last_code: result.code, last_describe: result.describe }
  }
  const { kind, code = null, detail, maybe_received } = result.failure
  const decided = kind === 'partner-code' || !maybe_received
  return { state: decided ? 'create_failed' : 'create_unknown', last_code: code, last_describe: detail }
}

type CreateRequest = RequestOf<'order-create'>

function givenFields(input: NewOrder): Partial<CreateRequest> {
  const fields = {
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
  }
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Partial<CreateRequest>
}

/** Fills in missing fields from the pulled product. Throws InvalidInput for fields that neither has. */
function completeRequest(orderId: bigint, input: NewOrder, offer: OutputOf<typeof findOffer>): CreateRequest {
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
  const totalPrice = input.total_price ?? ticketsPrice(unitPrice, input.quantity, 'total_price')
  const { partner_deal_id: partnerDealId, quantity } = input
  return { ...givenFields(input), orderId, partnerDealId, mtDealId, buyPrice, unitPrice, totalPrice, quantity }
}

/** Whether the input differs from the stored request; fields that the input leaves out cannot differ. */
function differs(stored: Entry, input: NewOrder): boolean {
  const sent = (request: Entry) => stringifyLossless(orderCreate.request.parse(request))
  return sent({ ...stored, ...givenFields(input) }) !== sent(stored)
}
