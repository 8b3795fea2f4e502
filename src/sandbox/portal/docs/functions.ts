import type { InterfaceName } from '../../../ticketing/interfaces/index.ts'
import { FUNCTION_IDS, type FunctionId, REQUIRED_FUNCTIONS } from '../../test-plan/index.ts'
import { INTERFACE_OF } from '../pages/function-groups.ts'
import type { NoticeName } from './anchor.ts'

/** The notices that belong to a function, besides its interface. */
const NOTICES_OF: Readonly<Partial<Record<FunctionId, readonly NoticeName[]>>> = {
  'product-change': ['deal-change'],
  'level-price-calendar': ['level-prices'],
  'pay-later': ['pay'],
  consumption: ['consume'],
  'refund-after-review': ['refund'],
  'order-reschedule': ['reschedule'],
}

/** The interfaces that a function tests once more. */
const TESTED_BY: Readonly<Partial<Record<FunctionId, readonly InterfaceName[]>>> = {
  robustness: ['order-create', 'order-pay', 'order-query', 'order-refund'],
}

/** A function that a seller's system can have, and the sections of this page that it is about. */
export interface DocumentedFunction {
  readonly id: FunctionId
  readonly isRequired: boolean
  readonly sections: readonly string[]
}

export const DOCUMENTED_FUNCTIONS: readonly DocumentedFunction[] = FUNCTION_IDS.map((id) => ({
  id,
  isRequired: REQUIRED_FUNCTIONS.includes(id),
  sections: [INTERFACE_OF[id] ?? [], NOTICES_OF[id] ?? [], TESTED_BY[id] ?? []].flat(),
}))
