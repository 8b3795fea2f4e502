import type { Locale } from '../../../platform/lib/web/locale.ts'
import { ORDER_STATES, type OrderState, REFUND_STATES, type RefundState } from '../../../ticketing/orders/index.ts'
import { type Diagram, diagramOf, type Places } from './diagram.ts'

const ORDER_PLACES: Places<OrderState> = {
  creating: [1, 0],
  create_unknown: [0, 0.5],
  create_failed: [2, 0.5],
  created: [1, 1.25],
  paying: [1, 2.5],
  pay_unknown: [0, 2.5],
  pay_failed: [2, 2.5],
  closing: [3, 1.25],
  closed: [3, 2.5],
  paid: [1, 4],
  consumed: [0, 4],
  refunded: [2, 4],
}

const REFUND_PLACES: Places<RefundState> = {
  requested: [0, 0],
  asking: [1, 0],
  unknown: [2, 0],
  reviewing: [2, 1.25],
  refunded: [1, 2.25],
  refused: [0, 1.25],
}

const ORDER_ZH: Readonly<Record<OrderState, string>> = {
  creating: '正在请求合作方创建订单',
  create_unknown: '创建订单的响应丢失；平台先查询订单，再做其他操作',
  create_failed: '合作方拒绝或无法连接；可以重新发送',
  created: '合作方已有该订单，未支付',
  paying: '正在支付，或合作方出票中（598）',
  pay_unknown: '支付的响应丢失；平台先查询订单，再做其他操作',
  pay_failed: '合作方拒绝出票；可以重新支付',
  paid: '已出票',
  consumed: '没有剩余的票，且至少使用了一张',
  refunded: '全部票已退',
  closing: '正在关闭，或响应丢失；可以重新发送',
  closed: '支付前已结束',
}

const REFUND_ZH: Readonly<Record<RefundState, string>> = {
  requested: '无法连接合作方；可以重新发送',
  asking: '正在向合作方申请退款',
  unknown: '响应丢失；平台先查询订单，再重新发送',
  reviewing: '合作方审核中（602），将发送退款结果通知',
  refunded: '退款完成',
  refused: '合作方拒绝退款',
}

/** The states of an order or a refund: the diagram, and the same as text. */
export interface StateMachine {
  readonly name: 'order' | 'refund'
  readonly diagram: Diagram
  readonly states: readonly { readonly state: string; readonly means: string; readonly next: readonly string[] }[]
}

type Table<State extends string> = Readonly<Record<State, { readonly means: string; readonly next: readonly State[] }>>

function stateMachineOf<State extends string>(
  name: StateMachine['name'],
  table: Table<State>,
  places: Places<State>,
  chinese: Readonly<Record<State, string>>,
  locale: Locale,
): StateMachine {
  const states = (Object.keys(table) as State[]).map((state) => {
    const { means, next } = table[state]
    return { state, means: locale === 'en' ? means : chinese[state], next }
  })
  return { name, diagram: diagramOf(table, places), states }
}

/** What becomes of an order and of a refund, from the table that the platform itself decides by. */
export const stateMachinesOf = (locale: Locale): StateMachine[] => [
  stateMachineOf<OrderState>('order', ORDER_STATES, ORDER_PLACES, ORDER_ZH, locale),
  stateMachineOf<RefundState>('refund', REFUND_STATES, REFUND_PLACES, REFUND_ZH, locale),
]
