import type { IncomingDeps } from '../mws/index.ts'
import type { CallDeps } from '../partner-calls/index.ts'
import type { NoticesInProgress } from './notices-in-progress.ts'

/** For operations that accept notices. */
export interface NoticeDeps extends IncomingDeps, CallDeps {
  readonly notices: NoticesInProgress
}
