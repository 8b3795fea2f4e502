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
import { BY_PLAYGROUND, withCalls } from '../../../ticketing/partner-calls/index.ts'
import type { PartnerWithSecrets } from '../../../ticketing/partners/index.ts'
import { findCurrentRun, orderInput, type RunDeps } from '../../certification/index.ts'
import type { Choice } from '../../test-plan/index.ts'
import { noSuchEntry } from '../errors.ts'
import { obstacleToCall } from '../traffic/outcome.ts'
import { callNow } from '../traffic/replay.ts'
import type { BodyProblem } from './body.ts'
import { isCovered, judge, pendingCodes } from './send.ts'
import type { Action, ExpectedOutcome, PlayOrder } from './wire.ts'

type TrialOrder = OutputOf<typeof trialOrders>[number]

/** The interface that an operation calls last. */
const CALLED_BY = {
  pay: 'order-pay',
  query: 'order-query',
  refund: 'order-refund',
  close: 'order-close',
} as const satisfies Record<Action, InterfaceName>

/** The call that an operation has made at its interface; undefined where there was nothing to send. */
export interface Operated {
  readonly name: InterfaceName
  readonly expectedOutcome: ExpectedOutcome
  readonly callId: string | undefined
}

/** Tickets that are neither used nor refunded. */
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
): Promise<Operated> {
  const expectedOutcome = pendingCodes(name).length > 0 ? 'either' : 'success'
  await countUse(deps, 'play', partner.partner_id)
  callNow(deps, partner)
  const { calls } = await withCalls(deps, operation)
  const call = calls.findLast((made) => made.call.interface === name)?.call
  if (call) await judge(deps, partner, call, expectedOutcome)
  return { name, expectedOutcome, callId: call?.call_id }
}

/**
 * Makes an order outside of any run by the platform's own operation. It belongs to no run, so no acceptance counts it.
 * Throws InvalidInput where the product (`mt_deal_id`) or a price of it is not known, 20003 when used too often.
 */
export function makeOrder(deps: RunDeps, partner: PartnerWithSecrets, order: PlayOrder): Promise<Operated> {
  return operate(deps, partner, 'order-create', async (inside) => {
    const choice = await choiceFor(deps, partner, order)
    const prepare = <Made>(operation: (deps: RunDeps) => Promise<Made>) => operation(inside)
    const preparing = { deps: inside, partner, choice, cause: BY_PLAYGROUND, prepare }
    const input = await orderInput(preparing, order.product, { exactQuantity: order.quantity })
    const dated = order.travel_date === undefined ? {} : { travel_date: order.travel_date }
    return createOrder(inside, { ...input, ...dated }, BY_PLAYGROUND, 'trial')
  })
}

/** Asked before there is a run, where they have a URL. */
const PULLS = ['product-pull', 'price-calendar'] as const

/** What the seller's system can do is known from its run. */
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
 * Pays, queries, refunds in part or closes an order of the playground; nothing but a query where the partner's program
 * could take a sold order for it. Throws RefusedRequest where its state does not allow that, 20003 when used too often.
 */
export async function actOnOrder(
  deps: RunDeps,
  partner: PartnerWithSecrets,
  { orderId, action, quantity }: { readonly orderId: bigint; readonly action: Action; readonly quantity: number },
): Promise<Operated | BodyProblem> {
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
