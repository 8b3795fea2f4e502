import type { Deps } from '../deps.ts'
import type { InterfaceName } from '../interfaces/index.ts'
import { addSeconds } from '../lib/clock.ts'

/** Faults of the platform that a test run makes on purpose. */
export interface CallFaults {
  /** The answers of this interface are lost: the connection is closed once the request has been sent. */
  readonly loses?: InterfaceName
  /** Each call is sent twice; the second answer is reported, and nothing else is done with it. */
  readonly twice?: boolean
  /** Seconds by which the times in bodies are ahead. The Date header, and the signature over it, stay right. */
  readonly aheadS?: number
}

/** The time that the body of a call states. */
export const statedNow = ({ calls, clock }: Deps): Date => addSeconds(clock.now(), calls.faults?.aheadS ?? 0)
