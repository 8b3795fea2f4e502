import { randomUUID } from 'node:crypto'
import { HISTORY_COLUMNS } from '../../platform/history/index.ts'
import { action, onTerminal, type Shown, type Verdict } from '../../platform/lib/action.ts'
import type { OutputOf } from '../../platform/lib/json/input.ts'
import { byOperator, type CallDeps } from '../partner-calls/index.ts'
import { closeOrder } from './close-order.ts'
import { createOrder, newOrderId } from './create-order.ts'
import { previewRefund } from './new-refund.ts'
import type { OrderResult } from './order-result.ts'
import { payOrder } from './pay-order.ts'
import { queryOrder } from './query-order.ts'
import { refundByPlatform, refundOrder } from './refund-order.ts'
import { listOrders, maskedStory, showOrder } from './show-order.ts'
import { isOrderTransition, type OrderState } from './states.ts'
import { oneOrder } from './wire.ts'

type Result = Pick<OrderResult, 'failure'>

const verdict = ({ failure }: Result): Verdict | undefined => {
  if (!failure) return undefined
  if (failure.kind === 'partner-code') return { tone: 'bad', text: 'orders.refused' }
  return { tone: 'bad', text: failure.maybe_received ? 'orders.maybe_received' : 'orders.not_received' }
}
const told = ({ failure }: Result): object =>
  failure ? { detail: failure.detail, code: failure.code, problems: failure.problems } : {}

type Call = OutputOf<typeof showOrder>['calls'][number]
const CALLS: readonly Shown<Call>[] = [
  { name: 'at', of: ({ started_at }) => started_at },
  { name: 'call', of: ({ interface: name }) => name },
  { name: 'took', of: ({ duration_ms }) => `${duration_ms} ms` },
  { name: 'http', of: ({ http_status }) => http_status },
  'code',
  { name: 'failure', of: ({ failure, failure_detail }) => failure && `${failure}: ${failure_detail}` },
]

/** An order and what happened to it, which pages show as a timeline. */
export const ORDER_PARTS = {
  vouchers: ['voucher', 'state', 'quantity', 'used_quantity', 'refunded_quantity', 'invalid_at'],
  refunds: ['refund_id', 'state', 'refund_quantity', 'refund_price', 'refund_fee', 'reason', 'created_at'],
  history: onTerminal(HISTORY_COLUMNS),
  calls: onTerminal(CALLS),
}
const calls = { record: 'order', parts: { ...ORDER_PARTS, problems: ['path', 'problem'] }, verdict, told } as const

type OrderRecord = Readonly<Record<string, unknown>>
const isIn =
  (...states: readonly OrderState[]) =>
  ({ state }: OrderRecord): boolean =>
    states.includes(state as OrderState)

const newRefundId = () => ({ refund_id: randomUUID() })

export const ORDER_ACTIONS = [
  action({
    route: 'GET /orders',
    command: 'order list',
    role: 'viewer',
    run: listOrders,
    list: {
      rows: 'orders',
      columns: [
        'order_id',
        'partner_id',
        { name: 'stage', of: ({ sandbox }) => (sandbox ? 'sandbox' : 'live') },
        'state',
        {
          name: 'tickets',
          of: ({ used_quantity, refunded_quantity, quantity }, t) =>
            t('orders.used_of', {
              used: String(used_quantity),
              refunded: String(refunded_quantity),
              quantity: String(quantity),
            }),
        },
        { name: 'total_price', of: ({ total_price }) => total_price.toFixed(2) },
        'created_at',
        { name: 'partner_deal_id', onTerminalOnly: true },
        'partner_order_id',
      ],
    },
  }),
  action({
    route: 'GET /orders/:order_id',
    command: 'order show',
    role: 'viewer',
    input: oneOrder,
    run: (deps: CallDeps, { order_id }) => showOrder(deps, order_id),
    masked: maskedStory,
    record: 'order',
    parts: ORDER_PARTS,
    related: ({ order_id }) => [
      { operation: 'GET /audit', text: 'console.field.history', page: ['/audit', { target: `order:${order_id}` }] },
    ],
  }),
  action({
    route: 'POST /orders',
    command: 'order create',
    role: 'editor',
    input: createOrder.input,
    run: (deps: CallDeps, order) => createOrder(deps, order, byOperator(deps)),
    suggested: ({ config }) => ({ order_id: newOrderId(config.ORDER_ID_BITS) }),
    ...calls,
  }),
  action({
    route: 'POST /orders/:order_id/pay',
    command: 'order pay',
    role: 'editor',
    input: oneOrder,
    run: (deps: CallDeps, { order_id }) => payOrder(deps, order_id, byOperator(deps)),
    offered: isIn('created', 'pay_unknown', 'pay_failed'),
    ...calls,
  }),
  action({
    route: 'POST /orders/:order_id/query',
    command: 'order query',
    role: 'support',
    input: oneOrder,
    run: (deps: CallDeps, { order_id }) => queryOrder(deps, order_id, byOperator(deps)),
    ...calls,
  }),
  action({
    route: 'POST /orders/:order_id/refund',
    command: 'order refund',
    role: 'editor',
    dangerous: true,
    input: refundOrder.input,
    run: (deps: CallDeps, refund) => refundOrder(deps, refund, byOperator(deps)),
    preview: { run: (deps: CallDeps, { order_id }) => previewRefund(deps, order_id) },
    suggested: newRefundId,
    offered: isIn('paid'),
    ...calls,
  }),
  action({
    route: 'POST /orders/:order_id/refunded',
    command: 'order refunded',
    role: 'editor',
    dangerous: true,
    input: refundByPlatform.input,
    run: (deps: CallDeps, refund) => refundByPlatform(deps, refund, byOperator(deps)),
    suggested: newRefundId,
    offered: isIn('paid', 'paying', 'pay_unknown'),
    ...calls,
  }),
  action({
    route: 'POST /orders/:order_id/close',
    command: 'order close',
    role: 'editor',
    dangerous: true,
    input: oneOrder,
    run: (deps: CallDeps, { order_id }) => closeOrder(deps, order_id, byOperator(deps)),
    offered: ({ state }: OrderRecord) => isOrderTransition(state as OrderState, 'closing'),
    ...calls,
  }),
]
