import { type Choice, offers } from '../../test-plan/index.ts'
import type { Outcome } from '../event.ts'
import type { RunRow } from '../run-store.ts'
import {
  balanceQuery,
  heartbeat,
  levelPriceCalendar,
  poiPull,
  priceCalendar,
  productPull,
  productStatus,
} from './catalogue.ts'
import { staleDate, unknownClient, wrongSignature } from './defence.ts'
import { consumption, productChange } from './notice.ts'
import {
  largeOrderId,
  orderClose,
  orderCloseAgain,
  orderCreate,
  orderCreateAgain,
  orderPayLater,
  orderQuery,
  orderReschedule,
  soldOut,
} from './order.ts'
import { refundAfterReview, refundAgain, refundAtOnce, refundedMessage, refundNotice } from './refund.ts'
import { lostAnswer, ordersAtOnce, priceChanged, unknownOrder } from './robustness/orders.ts'
import { foreignCode, refundAfterUse, refundOfRest } from './robustness/refunds.ts'
import type { Step } from './step.ts'
import { orderPay, orderPayAgain } from './vouchers.ts'

/** Every step of the sandbox, in the order in which a run takes those that its choice needs. */
export const STEPS: readonly Step[] = [
  heartbeat,
  productPull,
  wrongSignature,
  staleDate,
  unknownClient,
  poiPull,
  productChange,
  priceCalendar,
  levelPriceCalendar,
  orderCreate,
  orderCreateAgain,
  soldOut,
  orderPay,
  orderPayLater,
  orderPayAgain,
  orderQuery,
  largeOrderId,
  consumption,
  refundAtOnce,
  refundAfterReview,
  refundNotice,
  refundAgain,
  orderClose,
  orderCloseAgain,
  orderReschedule,
  refundedMessage,
  balanceQuery,
  productStatus,
  unknownOrder,
  priceChanged,
  lostAnswer,
  ordersAtOnce,
  refundOfRest,
  refundAfterUse,
  foreignCode,
]

/** Whether the next step may begin after a step whose last attempt came out like this. */
export const isDone = ({ advisory }: Step, outcome: Outcome | null): boolean =>
  outcome === 'passed' || (outcome === 'not_tested' && advisory === true)

/** The steps of a new run with this choice, in order. */
export const stepsFor = (choice: Choice): Step[] => STEPS.filter(({ needs }) => offers(choice, ...needs))

/**
 * The steps that a run began with, in order. A step that was added since is no part of it: a run that has passed all of
 * its own would be stranded. A step that no longer exists is left out.
 */
export const stepsOf = ({ steps }: RunRow): Step[] => steps.flatMap((id) => STEPS.find((step) => step.id === id) ?? [])
