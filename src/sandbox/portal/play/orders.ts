import type { OutputOf } from '../../../platform/lib/json/input.ts'
import { countUse } from '../../../platform/throttle/index.ts'
import type { InterfaceName } from '../../../ticketing/interfaces/index.ts'
import {
  closeOrder,
  createOrder,
  findNamedOrder,
  findTrialOrder,
  isOrderTransition,
  payOrder,
  queryOrder,
  refundOrder,
  type trialOrders,
} from '../../../ticketing/orders/index.ts'
import { BY_PLAYGROUND, callNow, withCalls } from '../../../ticketing/partner-calls/index.ts'
import type { PartnerWithSecrets } from '../../../ticketing/partners/index.ts'
import { findCurrentRun, orderInput, type RunDeps } from '../../certification/index.ts'
import type { Choice } from '../../test-plan/index.ts'
import { noSuchEntry } from '../errors.ts'
import { obstacleToCall } from '../traffic/outcome.ts'
import type { BodyProblem } from './body.ts'
import { isCovered, judge, pendingCodes } from './send.ts'
import type { Action, ExpectedOutcome, PlayOrder } from './wire.ts'

type TrialOrder = OutputOf<typeof trialOrders>[number]

/** The last interface that each operation calls. */
const CALLED_BY = {
  pay: 'order-pay',
  query: 'order-query',
  refund: 'order-refund',
  close: 'order-close',
} as const satisfies Record<Action, InterfaceName>

/** `callId` is undefined if there was nothing to send. */
export interface OrderCall {
  readonly name: InterfaceName
  readonly expectedOutcome: ExpectedOutcome
  readonly callId: string | undefined
}

/** Neither used nor refunded. */
export const ticketsLeft = ({ quantity, used_quantity, refunded_quantity }: TrialOrder): number =>
  quantity - used_quantity - refunded_quantity

export function actionsFor(order: TrialOrder): Action[] {
  const { state } = order
  const allowed: Record<Action, boolean> = {
    pay: state !== 'paying' && isOrderTransition(state, 'paying'),
    query: true,
    refund: state === 'paid' && ticketsLeft(order) > 0,
    close: isOrderTransition(state, 'closing'),
  }
  return (Object.keys(allowed) as Action[]).filter((action) => allowed[action])
}

async function operate(
  deps: RunDeps,
  partner: PartnerWithSecrets,
  name: InterfaceName,
  operation: (deps: RunDeps) => Promise<unknown>,
): Promise<OrderCall> {
  const expectedOutcome = pendingCodes(name).length > 0 ? 'either' : 'success'
  await countUse(deps, 'play', partner.partner_id)
  callNow(deps, partner)
  const { calls } = await withCalls(deps, operation)
  const call = calls.findLast((made) => made.call.interface === name)?.call
  if (call) await judge(deps, partner, call, expectedOutcome)
  return { name, expectedOutcome, callId: call?.call_id }
}

/**
 * Makes an order with the platform's own operation. It belongs to no run, so it does not count for acceptance.
 * Throws InvalidInput if the product (`mt_deal_id`) or its price is unknown, 20003 when rate-limited.
 */
export function makeOrder(deps: RunDeps, partner: PartnerWithSecrets, order: PlayOrder): Promise<OrderCall> {
  return operate(deps, partner, 'order-create', async (inside) => {
    const choice = await choiceFor(deps, partner, order)
    const prepare = <Result>(operation: (deps: RunDeps) => Promise<Result>) => operation(inside)
    const context = { deps: inside, partner, choice, cause: BY_PLAYGROUND, prepare }
    const input = await orderInput(context, order.product, { exactQuantity: order.quantity })
    const dated = order.travel_date === undefined ? {} : { travel_date: order.travel_date }
    return createOrder(inside, { ...input, ...dated }, BY_PLAYGROUND, 'trial')
  })
}

/** Used before there is a run, if they have a URL. */
const PULLS = ['product-pull', 'price-calendar'] as const

/** The current run says what the seller's system can do. */
async function choiceFor(deps: RunDeps, partner: PartnerWithSecrets, order: PlayOrder): Promise<Choice> {
  const run = await findCurrentRun(deps, partner.partner_id)
  const { product, quantity, travel_date, unit_price, buy_price } = order
  const { level } = run?.choice.products ?? {}
  return {
    functions: run?.choice.functions ?? PULLS.filter((name) => isCovered(partner, name)),
    products: { main: product, ...(level === undefined ? {} : { level }) },
    ...{ quantity, travel_date, unit_price, buy_price },
  }
}

/** An order of the playground; throws 20007 (404) for any other. */
export async function requireTrialOrder(deps: RunDeps, partnerId: bigint, orderId: bigint): Promise<TrialOrder> {
  const order = await findTrialOrder(deps.db, partnerId, orderId)
  if (!order) throw noSuchEntry()
  return order
}

/**
 * Pays, queries, partly refunds or closes a playground order; only queries it if the partner's program could confuse it
 * with a sold order. Throws RefusedRequest if the order's state does not allow the action, 20003 when rate-limited.
 */
export async function actOnOrder(
  deps: RunDeps,
  partner: PartnerWithSecrets,
  { orderId, action, quantity }: { readonly orderId: bigint; readonly action: Action; readonly quantity: number },
): Promise<OrderCall | BodyProblem> {
  await requireTrialOrder(deps, partner.partner_id, orderId)
  const reads = obstacleToCall(CALLED_BY[action]) === undefined
  if (!reads && (await findNamedOrder(deps.db, orderId))?.sold) return { kind: 'sold-order' }
  const operations: Record<Action, (inside: RunDeps) => Promise<unknown>> = {
    pay: (inside) => payOrder(inside, orderId, BY_PLAYGROUND),
    query: (inside) => queryOrder(inside, orderId, BY_PLAYGROUND),
    refund: (inside) =>
      refundOrder(inside, refundOrder.input.parse({ order_id: orderId, quantity, partly: true }), BY_PLAYGROUND),
    close: (inside) => closeOrder(inside, orderId, BY_PLAYGROUND),
  }
  return operate(deps, partner, CALLED_BY[action], operations[action])
}
