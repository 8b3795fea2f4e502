import { type Choice, offers } from '../../test-plan/index.ts'
import type { Outcome } from '../event.ts'
import type { RunRow } from '../run-store.ts'
import * as catalogue from './catalogue.ts'
import * as defence from './defence.ts'
import * as notice from './notice.ts'
import * as order from './order.ts'
import * as refund from './refund.ts'
import * as orders from './robustness/orders.ts'
import * as refunds from './robustness/refunds.ts'
import type { Step } from './step.ts'
import * as vouchers from './vouchers.ts'

/** Every step of the sandbox in order; a run has those that its choice needs. */
export const STEPS: readonly Step[] = [
  catalogue.heartbeat,
  catalogue.productPull,
  defence.wrongSignature,
  defence.staleDate,
  defence.unknownClient,
  catalogue.poiPull,
  notice.productChange,
  catalogue.priceCalendar,
  catalogue.levelPriceCalendar,
  order.orderCreate,
  order.orderCreateAgain,
  order.soldOut,
  vouchers.orderPay,
  order.orderPayLater,
  vouchers.orderPayAgain,
  order.orderQuery,
  order.largeOrderId,
  notice.consumption,
  refund.refundAtOnce,
  refund.refundAfterReview,
  refund.refundNotice,
  refund.refundAgain,
  order.orderClose,
  order.orderCloseAgain,
  order.orderReschedule,
  refund.refundedMessage,
  catalogue.balanceQuery,
  catalogue.productStatus,
  orders.unknownOrder,
  orders.priceChanged,
  orders.lostAnswer,
  orders.ordersAtOnce,
  refunds.refundOfRest,
  refunds.refundAfterUse,
  refunds.foreignCode,
]

/** Whether the next step may begin after this outcome. */
export const isDone = ({ advisory }: Step, outcome: Outcome | null): boolean =>
  outcome === 'passed' || (outcome === 'not_tested' && advisory === true)

export const stepsFor = (choice: Choice): Step[] => STEPS.filter(({ needs }) => offers(choice, ...needs))

/**
 * The steps that the run began with: a step added since would strand a run that has passed everything. Removed ones are
 * left out.
 */
export const stepsOf = ({ steps }: RunRow): Step[] => steps.flatMap((id) => STEPS.find((step) => step.id === id) ?? [])
