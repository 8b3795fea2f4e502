import type { Deps } from '../../platform/deps.ts'
import type { IncomingCalls } from './incoming-calls.ts'

/** For operations that take calls of partners. */
export interface IncomingDeps extends Deps {
  readonly incoming: IncomingCalls
}
