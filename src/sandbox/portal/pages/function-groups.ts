import type { InterfaceName } from '../../../ticketing/interfaces/index.ts'
import type { FunctionId } from '../../test-plan/index.ts'

/** The functions as the form lays them out; each is in exactly one group (a test holds that). */
export const GROUPS: readonly { readonly name: string; readonly functions: readonly FunctionId[] }[] = [
  { name: 'sandbox.group.products', functions: ['product-pull', 'product-change', 'poi-pull', 'product-status'] },
  { name: 'sandbox.group.prices', functions: ['price-calendar', 'level-price-calendar'] },
  { name: 'sandbox.group.order', functions: ['order-create', 'sold-out', 'order-query'] },
  { name: 'sandbox.group.pay', functions: ['pay-at-once', 'pay-later'] },
  { name: 'sandbox.group.use', functions: ['consumption'] },
  { name: 'sandbox.group.refund', functions: ['refund-at-once', 'refund-after-review', 'refunded-message'] },
  { name: 'sandbox.group.change', functions: ['order-close', 'order-reschedule'] },
  { name: 'sandbox.group.account', functions: ['balance-query', 'heartbeat'] },
  { name: 'sandbox.group.robustness', functions: ['robustness'] },
]

/** The interface that a function is offered at; nothing for what the partner sends to us. */
export const INTERFACE_OF: Readonly<Record<FunctionId, InterfaceName | undefined>> = {
  'product-pull': 'product-pull',
  'product-change': undefined,
  'poi-pull': 'poi-pull',
  'price-calendar': 'price-calendar',
  'level-price-calendar': 'level-price-calendar',
  'order-create': 'order-create',
  'sold-out': 'order-create',
  'pay-at-once': 'order-pay',
  'pay-later': 'order-pay',
  'order-query': 'order-query',
  consumption: undefined,
  'refund-at-once': 'order-refund',
  'refund-after-review': 'order-refund',
  'order-close': 'order-close',
  'order-reschedule': 'order-reschedule',
  'refunded-message': 'order-refunded',
  'balance-query': 'balance-query',
  'product-status': 'product-status',
  heartbeat: 'heartbeat',
  robustness: undefined,
}
