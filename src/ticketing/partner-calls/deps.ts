import type { Deps } from '../../platform/deps.ts'
import { addSeconds } from '../../platform/lib/clock.ts'
import type { OutboundDeps } from '../../platform/outbound/index.ts'
import type { InterfaceName } from '../interfaces/index.ts'
import type { ReachDeps } from '../partner-reach/index.ts'
import { type CallRecord, lastCallAbout } from './call-store.ts'

/** Faults of the platform that a test run makes on purpose. */
export interface CallFaults {
  /** The answers of this interface are lost: the connection is closed once the request has been sent. */
  readonly dropsAnswerOf?: InterfaceName
  /** Each call is sent twice; the second answer is reported, and nothing else is done with it. */
  readonly sendTwice?: boolean
  /** After a call about an order, the one before it arrives once more, as when a network holds a request back. */
  readonly outOfOrder?: boolean
  /** The body of each request comes in two parts, with SLOW_MS in between. */
  readonly slow?: boolean
  /** Seconds by which the times in bodies are ahead. The Date header, and the signature over it, stay right. */
  readonly aheadS?: number
}

export interface SentAgain {
  readonly first: CallRecord
  readonly again: CallRecord
  /** Another call about the order came in between. */
  readonly isLate: boolean
}

interface Calls {
  /** Lets callers observe every recorded call to a partner. `sentAgain`: what was deliberately sent again after it. */
  readonly onCall?: (call: CallRecord, sentAgain: readonly SentAgain[]) => void
  /** Deliberate failures of calls; test runs only. */
  readonly faults?: CallFaults
}

/** For operations that call partners. */
export interface CallDeps extends OutboundDeps, ReachDeps {
  readonly calls: OutboundDeps['calls'] & ReachDeps['calls'] & Calls
}

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
