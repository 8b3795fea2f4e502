import { randomUUID } from 'node:crypto'
import { action, type Verdict } from '../../platform/lib/action.ts'
import { byOperator, type CallDeps, type CallProblem } from '../partner-calls/index.ts'
import { closeOrder } from './close-order.ts'
import { createOrder, newOrderId } from './create-order.ts'
import { previewRefund } from './new-refund.ts'
import { payOrder } from './pay-order.ts'
import { queryOrder } from './query-order.ts'
import { refundOrder } from './refund-order.ts'
import { refundByPlatform } from './refunded-message.ts'
import { listOrders, maskedStory, showOrder } from './show-order.ts'
import { isOrderTransition, type OrderState } from './states.ts'
import { oneOrder } from './wire.ts'

interface Asked {
  readonly failure: CallProblem | null
}

/** A failed call is part of the output: the order is as shown. */
const verdict = ({ failure }: Asked): Verdict | undefined => {
  if (!failure) return undefined
  if (failure.kind === 'partner-code') return { tone: 'bad', text: 'orders.refused' }
  return { tone: 'bad', text: failure.maybe_received ? 'orders.maybe_received' : 'orders.not_received' }
}
const told = ({ failure }: Asked): object =>
  failure ? { detail: failure.detail, code: failure.code, problems: failure.problems } : {}
const calls = { verdict, told }

type Shown = Readonly<Record<string, unknown>>
const stateOf = ({ state }: Shown) => state as OrderState
const mayBecome =
  (to: OrderState) =>
  (order: Shown): boolean =>
    isOrderTransition(stateOf(order), to)
const isIn =
  (...states: readonly OrderState[]) =>
  (order: Shown): boolean =>
    states.includes(stateOf(order))

const newRefundId = () => ({ refund_id: randomUUID() })

/** What operators do with orders at partners. */
export const ORDER_ACTIONS = [
  action({
    route: 'GET /orders',
    command: 'order list',
    role: 'viewer',
    input: listOrders.input,
    run: listOrders,
    list: {
      rows: 'orders',
      columns: [
        { name: 'order_id' },
        { name: 'partner_id' },
        { name: 'stage', of: ({ sandbox }) => (sandbox ? 'sandbox' : 'live') },
        { name: 'state' },
        {
          name: 'tickets',
          of: (order) => `${order.used_quantity}+${order.refunded_quantity} of ${order.quantity}`,
        },
        { name: 'total_price', of: ({ total_price }) => total_price.toFixed(2) },
        { name: 'created_at' },
        { name: 'partner_deal_id', onTerminalOnly: true },
        { name: 'partner_order_id' },
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
    tables: {
      vouchers: ['voucher', 'state', 'quantity', 'used_quantity', 'refunded_quantity', 'invalid_at'],
      refunds: ['refund_id', 'state', 'refund_quantity', 'refund_price', 'refund_fee', 'reason', 'created_at'],
    },
    related: ({ order_id }) => [
      {
        operation: 'GET /audit',
        text: 'console.field.history',
        path: '/audit',
        query: { target: `order:${order_id}` },
      },
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
    offered: mayBecome('closing'),
    ...calls,
  }),
]
