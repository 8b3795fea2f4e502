import { productPull } from './catalogue.ts'
import { staleDate, unknownClient, wrongSignature } from './defence.ts'
import { consumption } from './notice.ts'
import { orderCreate, orderPay } from './order.ts'
import type { Step } from './step.ts'

/** Every step of the sandbox, in the order in which a run takes those that its choice needs. */
export const STEPS: readonly Step[] = [
  productPull,
  wrongSignature,
  staleDate,
  unknownClient,
  orderCreate,
  orderPay,
  consumption,
]
