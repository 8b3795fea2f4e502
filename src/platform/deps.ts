import type { Config } from './config/index.ts'
import type { Db } from './db/sql.ts'
import type { Clock } from './lib/clock.ts'
import type { ConcurrencyLimit } from './lib/concurrency-limit.ts'
import type { Keys } from './lib/crypto/keys.ts'
import type { LongReads } from './lib/long-read.ts'
import type { Metrics } from './lib/metrics.ts'
import type { RateLimiter } from './lib/rate-limiter.ts'
import type { Tracing } from './lib/tracing.ts'

/** An operator, a person on the machine's command line, an app, a user, a partner, a job, or the service itself. */
export const ACTOR_KINDS = ['operator', 'cli', 'app', 'user', 'partner', 'job', 'system'] as const

/** Who did it. */
export interface Actor {
  readonly kind: (typeof ACTOR_KINDS)[number]
  /** Which one: an operator's name, a partner's member by member_id, `ADMIN_TOKEN`. */
  readonly name?: string | undefined
  /** Where the request came from. */
  readonly address?: string | undefined
  readonly requestId?: string | undefined
  /** By which surface an operator acts. */
  readonly by?: 'command' | 'console' | 'api'
}

/**
 * What operations of every room may depend on, passed in. A room whose operations need more of what lives as long as the
 * process says so in a type of its own that extends this one, as CallDeps of partner-calls.
 */
export interface Deps {
  readonly config: Config
  readonly db: Db
  readonly clock: Clock
  readonly keys: Keys
  readonly metrics: Metrics
  /** Undefined unless traces are sent. */
  readonly tracing?: Tracing | undefined
  readonly rateLimiter: RateLimiter
  /** Shared by all sign-ins: users, partners' members and operators. */
  readonly passwordSlots: ConcurrencyLimit
  /** Pictures that people upload are decoded here. */
  readonly pictureSlots: ConcurrencyLimit
  /** Test users of apps are made here. */
  readonly testUserSlots: ConcurrencyLimit
  readonly longReads: LongReads
  /** On whose behalf, for the audit log; the service's own if nobody is named. */
  readonly actor?: Actor
  /**
   * For work that another worker may take over (a durable job): throws once it has, or may soon. Called right before
   * something is sent that must not be sent twice.
   */
  readonly assertLeaseHeld?: () => void
}

/** Does the work in one transaction; `inside` has the transaction as its `db`. */
export const inTransaction = <Given extends { readonly db: Db }, Done>(
  given: Given,
  work: (inside: Given, db: Db) => Promise<Done>,
): Promise<Done> => given.db.tx((db) => work({ ...given, db }, db))

/** The same on the shard of the person with this routing key. */
export const inPersonTransaction = <Given extends { readonly db: Db }, Done>(
  given: Given,
  routingKey: number,
  work: (inside: Given, db: Db) => Promise<Done>,
): Promise<Done> => given.db.of(routingKey).tx((db) => work({ ...given, db }, db))
