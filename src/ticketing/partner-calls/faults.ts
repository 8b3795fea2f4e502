import type { Deps } from '../../platform/deps.ts'
import { addSeconds } from '../../platform/lib/clock.ts'
import type { InterfaceName } from '../interfaces/index.ts'
import { type CallRecord, lastCallAbout } from './call-store.ts'
import type { CallDeps } from './deps.ts'

export const SLOW_MS = 2_000

/** The call that comes before each in the life of an order: the one that arrives again, late. */
const BEFORE: Readonly<Partial<Record<InterfaceName, InterfaceName>>> = {
  'order-pay': 'order-create',
  'order-close': 'order-create',
  'order-refund': 'order-pay',
  'order-reschedule': 'order-pay',
  'order-refunded': 'order-pay',
}

/** What arrives again, late, after a call of that interface about an order, as it was sent; undefined where nothing does. */
export async function callToResendLate(
  { db }: Deps,
  name: InterfaceName,
  orderId: bigint | undefined,
): Promise<CallRecord | undefined> {
  const before = BEFORE[name]
  return before === undefined || orderId === undefined ? undefined : lastCallAbout(db, orderId, before)
}

/** The time that the body of a call states. */
export const statedNow = ({ calls, clock }: CallDeps): Date => addSeconds(clock.now(), calls.faults?.aheadS ?? 0)
