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

/** What operations are given; they find nothing by themselves. */
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
    /** Is given every call to a partner once it is recorded: what an operation asked is reported, not found out. `sentAgain`: what was sent again after it, on purpose. */
    readonly onCall?: (call: CallRecord, sentAgain: readonly SentAgain[]) => void
    /** What goes wrong with calls, on purpose: of the test run only. */
    readonly faults?: CallFaults
  }
  readonly runningAttempts: RunningAttempts
  readonly logFollowers: LogFollowers
  /** On whose behalf, for the audit log; the service's own if nobody is named. */
  readonly actor?: Actor
  /**
   * For work that may be given to somebody else (a durable job): throws once it has been, or may be soon. Asked right before
   * something is sent that must not be sent twice.
   */
  readonly assertMayCall?: () => void
}
