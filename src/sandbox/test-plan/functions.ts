import type { InterfaceName } from '../../ticketing/interfaces/index.ts'
import type { NoticeName } from '../../ticketing/mws-wire/index.ts'

/**
 * What a partner's system can do. The chosen functions decide which steps the test run has. To add a function: an entry
 * here, its texts `sandbox.function.<id>` and `sandbox.function_about.<id>`, and the `needs` of its steps.
 */

interface SystemFunction {
  readonly id: string
  /** Where the form has it; groups and their functions stand there in the order of the entries. */
  readonly group: string
  /** What of the field reference belongs to it; interfaces need a URL. */
  readonly interfaces?: readonly InterfaceName[]
  readonly notices?: readonly NoticeName[]
  /** Part of every integration. */
  readonly required?: true
  /** At least one function of the kind has to be chosen. */
  readonly oneOf?: 'pay' | 'refund'
  /** Additional tests of what is offered anyway; off by default. */
  readonly extra?: true
}

const FUNCTIONS = [
  { id: 'product-pull', group: 'products', interfaces: ['product-pull'] },
  { id: 'product-change', group: 'products', notices: ['deal-change'] },
  { id: 'poi-pull', group: 'products', interfaces: ['poi-pull'] },
  { id: 'price-calendar', group: 'prices', interfaces: ['price-calendar'] },
  { id: 'level-price-calendar', group: 'prices', interfaces: ['level-price-calendar'], notices: ['level-prices'] },
  { id: 'order-create', group: 'order', interfaces: ['order-create'], required: true },
  { id: 'sold-out', group: 'order', interfaces: ['order-create'] },
  { id: 'pay-at-once', group: 'pay', interfaces: ['order-pay'], oneOf: 'pay' },
  { id: 'pay-later', group: 'pay', interfaces: ['order-pay'], notices: ['pay'], oneOf: 'pay' },
  { id: 'order-query', group: 'order', interfaces: ['order-query'], required: true },
  { id: 'consumption', group: 'use', notices: ['consume'], required: true },
  { id: 'refund-at-once', group: 'refund', interfaces: ['order-refund'], oneOf: 'refund' },
  { id: 'refund-after-review', group: 'refund', interfaces: ['order-refund'], notices: ['refund'], oneOf: 'refund' },
  { id: 'order-close', group: 'change', interfaces: ['order-close'] },
  { id: 'order-reschedule', group: 'change', interfaces: ['order-reschedule'], notices: ['reschedule'] },
  { id: 'refunded-message', group: 'refund', interfaces: ['order-refunded'] },
  { id: 'balance-query', group: 'account', interfaces: ['balance-query'] },
  { id: 'product-status', group: 'products', interfaces: ['product-status'] },
  { id: 'heartbeat', group: 'account', interfaces: ['heartbeat'] },
  {
    ...{ id: 'robustness', group: 'robustness', extra: true },
    interfaces: ['order-create', 'order-pay', 'order-query', 'order-refund'],
  },
] as const satisfies readonly SystemFunction[]

export type FunctionId = (typeof FUNCTIONS)[number]['id']

export const SYSTEM_FUNCTIONS: readonly (SystemFunction & { readonly id: FunctionId })[] = FUNCTIONS

const idsOf = (functions: typeof SYSTEM_FUNCTIONS): FunctionId[] => functions.map(({ id }) => id)

export const FUNCTION_IDS = idsOf(SYSTEM_FUNCTIONS) as [FunctionId, ...FunctionId[]]

export const REQUIRED_FUNCTIONS = idsOf(SYSTEM_FUNCTIONS.filter(({ required }) => required))

/** Everything but the additional tests. */
export const OFFERED_FUNCTIONS = idsOf(SYSTEM_FUNCTIONS.filter(({ extra }) => !extra))

/** The kinds that a choice lacks, with the functions of each. */
export const missingKinds = (chosen: readonly FunctionId[]) =>
  (['pay', 'refund'] as const)
    .map((kind) => ({ kind, ways: idsOf(SYSTEM_FUNCTIONS.filter(({ oneOf }) => oneOf === kind)) }))
    .filter(({ ways }) => !ways.some((way) => chosen.includes(way)))

/** As the form shows them; texts `sandbox.group.<id>`. */
export const FUNCTION_GROUPS = [...new Set(SYSTEM_FUNCTIONS.map(({ group }) => group))].map((id) => ({
  id,
  functions: idsOf(SYSTEM_FUNCTIONS.filter(({ group }) => group === id)),
}))

/** The interfaces that these functions need; functions about notices have none. */
export const interfacesOf = (functions: readonly FunctionId[]): InterfaceName[] => [
  ...new Set(SYSTEM_FUNCTIONS.flatMap(({ id, interfaces = [] }) => (functions.includes(id) ? interfaces : []))),
]
