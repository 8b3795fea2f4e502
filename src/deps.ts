import type { Actor } from './audit/index.ts'
import type { LogFollowers, RunningAttempts } from './certification/index.ts'
import type { Config } from './config/index.ts'
import type { Db } from './db/sql.ts'
import type { Clock } from './lib/clock.ts'
import type { Keys } from './lib/crypto/keys.ts'
import type { Metrics } from './lib/metrics.ts'
import type { RateLimiter } from './lib/rate-limiter.ts'
import type { Tracing } from './lib/tracing.ts'
import type { CallFaults, CallRecord, SentAgain } from './partner-calls/index.ts'
import type { CircuitBreakers, KnownCertificates } from './partner-reach/index.ts'

/** Everything that operations depend on, passed in. */
export interface Deps {
  readonly config: Config
  readonly db: Db
  readonly clock: Clock
  readonly keys: Keys
  readonly rateLimiter: RateLimiter
  readonly metrics: Metrics
  /** Undefined unless traces are sent. */
  readonly tracing?: Tracing | undefined
  readonly calls: {
    readonly breakers: CircuitBreakers
    readonly certificates: KnownCertificates
    /** Called with every recorded call to a partner, so that nobody has to search for it. `sentAgain`: what was deliberately sent again after it. */
    readonly onCall?: (call: CallRecord, sentAgain: readonly SentAgain[]) => void
    /** Deliberate failures of calls; test runs only. */
    readonly faults?: CallFaults
  }
  readonly runningAttempts: RunningAttempts
  readonly logFollowers: LogFollowers
  /** On whose behalf, for the audit log; the service's own if nobody is named. */
  readonly actor?: Actor
  /**
   * For work that another worker may take over (a durable job): throws once it has, or may soon. Called right before
   * something is sent that must not be sent twice.
   */
  readonly assertMayCall?: () => void
}
