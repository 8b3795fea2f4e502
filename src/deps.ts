import type { Actor } from './audit/index.ts'
import { LogFollowers, RunningAttempts } from './certification/index.ts'
import type { Config } from './config/index.ts'
import { type Db, withShareOf } from './db/sql.ts'
import type { Clock } from './lib/clock.ts'
import type { ConcurrencyLimit } from './lib/concurrency-limit.ts'
import type { Keys } from './lib/crypto/keys.ts'
import { passwordSlots } from './lib/crypto/password.ts'
import type { Log } from './lib/log.ts'
import { LongReads } from './lib/long-read.ts'
import type { Metrics } from './lib/metrics.ts'
import type { RateLimiter } from './lib/rate-limiter.ts'
import { openSampledLog } from './lib/sampled-log.ts'
import type { Tracing } from './lib/tracing.ts'
import { NoticesInProgress } from './mtp/index.ts'
import { IncomingCalls } from './mws/index.ts'
import { TokenCap } from './oauth/index.ts'
import { type AddressGuard, addressGuard } from './outbound/index.ts'
import type { CallFaults, CallRecord, SentAgain } from './partner-calls/index.ts'
import { CircuitBreakers, KnownCertificates } from './partner-reach/index.ts'
import { openRateLimiter } from './throttle/index.ts'

/** What lives as long as the process, made once (ARCHITECTURE "Doors", 4). */
interface LongLived {
  readonly rateLimiter: RateLimiter
  /** Of users, partners' members and operators. */
  readonly passwordSlots: ConcurrencyLimit
  readonly longReads: LongReads
  readonly tokenCap: TokenCap
  /** Calls to partners. */
  readonly calls: {
    readonly guard: AddressGuard
    readonly breakers: CircuitBreakers
    readonly certificates: KnownCertificates
    /** Called with every recorded call to a partner, so that nobody has to search for it. `sentAgain`: what was deliberately sent again after it. */
    readonly onCall?: (call: CallRecord, sentAgain: readonly SentAgain[]) => void
    /** Deliberate failures of calls; test runs only. */
    readonly faults?: CallFaults
  }
  /** Calls of partners. */
  readonly incoming: IncomingCalls
  readonly notices: NoticesInProgress
  readonly runningAttempts: RunningAttempts
  readonly logFollowers: LogFollowers
}

/** Everything that operations depend on, passed in. */
export interface Deps extends LongLived {
  readonly config: Config
  readonly db: Db
  readonly clock: Clock
  readonly keys: Keys
  readonly metrics: Metrics
  /** Undefined unless traces are sent. */
  readonly tracing?: Tracing | undefined
  /** On whose behalf, for the audit log; the service's own if nobody is named. */
  readonly actor?: Actor
  /** Whom a long operation tells how many are done, of how many if that is known. */
  readonly progress?: (done: number, all: number | undefined) => void
  /**
   * For work that another worker may take over (a durable job): throws once it has, or may soon. Called right before
   * something is sent that must not be sent twice.
   */
  readonly assertLeaseHeld?: () => void
}

type Given = Pick<Deps, 'config' | 'db' | 'clock' | 'keys'>

/** Whoever makes Deps closes this too, before the database. */
export function openLongLived(given: Given, log: Log): { readonly made: LongLived; close(): Promise<void> } {
  const { config, db, clock, keys } = given
  const sampledLog = openSampledLog(log)
  const made = {
    rateLimiter: openRateLimiter(db, keys),
    passwordSlots: passwordSlots(config),
    longReads: new LongReads(),
    tokenCap: new TokenCap(withShareOf(given, 'oauth').db, config, sampledLog),
    calls: {
      guard: addressGuard(config),
      breakers: new CircuitBreakers(clock),
      certificates: new KnownCertificates(clock),
    },
    incoming: new IncomingCalls(given),
    notices: new NoticesInProgress(),
    runningAttempts: new RunningAttempts(),
    logFollowers: new LogFollowers(db),
  }
  const close = async () => {
    made.logFollowers.close()
    made.tokenCap.close()
    await Promise.all([made.runningAttempts.close(), made.incoming.close()])
    await made.rateLimiter.close()
    sampledLog.close()
  }
  return { made, close }
}
