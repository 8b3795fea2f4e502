import type { NoticeDeps } from '../../ticketing/mtp/index.ts'
import type { LogFollowers } from './log-followers.ts'
import type { RunningAttempts } from './running-attempts.ts'

/** For operations on test runs. */
export interface RunDeps extends NoticeDeps {
  readonly runningAttempts: RunningAttempts
  readonly logFollowers: LogFollowers
}
