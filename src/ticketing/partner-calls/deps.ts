import { addSeconds } from '../../platform/lib/clock.ts'
import type { OutboundDeps } from '../../platform/outbound/index.ts'
import type { InterfaceName } from '../interfaces/index.ts'
import type { ReachDeps } from '../partner-reach/index.ts'
import type { CallRecord } from './call-store.ts'

/** Faults that a test run injects into our calls. */
export interface CallFaults {
  /** Answers of this interface are lost: the connection is closed once the request has been sent. */
  readonly dropsAnswerOf?: InterfaceName
  /** Each call is sent twice; the second answer is only reported. */
  readonly sendTwice?: boolean
  /** After a call about an order, the previous one arrives again, as if the network had held it back. */
  readonly outOfOrder?: boolean
  /** The body of each request is sent in two parts, SLOW_MS apart. */
  readonly slow?: boolean
  /** Seconds by which times in bodies are ahead. The Date header and the signature over it stay right. */
  readonly aheadS?: number
}

export interface SentAgain {
  readonly first: CallRecord
  readonly again: CallRecord
  /** Whether another call about the order came in between. */
  readonly isLate: boolean
}

interface Calls {
  /** Observes every recorded call to a partner. `sentAgain`: calls that were deliberately repeated after it. */
  readonly onCall?: (call: CallRecord, sentAgain: readonly SentAgain[]) => void
  /** Only in test runs. */
  readonly faults?: CallFaults
}

export interface CallDeps extends OutboundDeps, ReachDeps {
  readonly calls: OutboundDeps['calls'] & ReachDeps['calls'] & Calls
}

export const SLOW_MS = 2_000

/** The current time to state in the body of a call. */
export const statedNow = ({ calls, clock }: CallDeps): Date => addSeconds(clock.now(), calls.faults?.aheadS ?? 0)
