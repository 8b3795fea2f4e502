import { balanceQuery, heartbeat } from './account.ts'
import type { PartnerInterface } from './interface.ts'
import { orderClose, orderCreate, orderPay, orderQuery, orderReschedule } from './order.ts'
import { poiPull } from './poi.ts'
import { levelPriceCalendar, priceCalendar } from './price.ts'
import { productPull, productStatus } from './product.ts'
import { orderRefund, orderRefunded } from './refund.ts'

export { type Echo, echoesOf } from './about.ts'
export { type ImplausibleValue, implausiblePrices, pricesOf, type UsualPrices } from './implausible.ts'
export { type PartnerInterface, SUCCESS } from './interface.ts'
export {
  codesOfFailure,
  type IssuedTickets,
  issuedTickets,
  ORDER_STATUS,
  orderCreate,
  voucherState,
} from './order.ts'
export { credential, visitor } from './people.ts'
export { levelPrice, levelPriceCalendar, priceCalendar } from './price.ts'
export { productPull } from './product.ts'
export {
  answerWarnings,
  fieldsOfAnswer,
  jsonFields,
  lenientProblems,
  readAnswer,
  remarkIn,
  saysSuccess,
  withBody,
  withUsableFields,
} from './read-answer.ts'

/** Every interface that partners implement (REFERENCE "Interfaces"). Adding one is adding an entry. */
export const INTERFACES = [
  poiPull,
  productPull,
  priceCalendar,
  levelPriceCalendar,
  orderCreate,
  orderPay,
  orderQuery,
  orderRefund,
  orderRefunded,
  orderClose,
  orderReschedule,
  balanceQuery,
  productStatus,
  heartbeat,
] as const

export type InterfaceName = (typeof INTERFACES)[number]['name']

export const interfaceNamed = (name: string): (PartnerInterface & { readonly name: InterfaceName }) | undefined =>
  INTERFACES.find((candidate) => candidate.name === name)
