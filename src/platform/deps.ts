import type { Config } from './config/index.ts'
import type { Db } from './db/sql.ts'
import type { Clock } from './lib/clock.ts'
import type { ConcurrencyLimit } from './lib/concurrency-limit.ts'
import type { Keys } from './lib/crypto/keys.ts'
import type { LongReads } from './lib/long-read.ts'
import type { Metrics } from './lib/metrics.ts'
import type { RateLimiter } from './lib/rate-limiter.ts'
import type { Tracing } from './lib/tracing.ts'

/** `cli` is a person on the machine's command line, `system` the service itself. */
export const ACTOR_KINDS = ['operator', 'cli', 'app', 'user', 'partner', 'job', 'system'] as const

/** Who performs an operation. */
export interface Actor {
  readonly kind: (typeof ACTOR_KINDS)[number]
  /** Which one: an operator's name, a partner's member by member_id, `ADMIN_TOKEN`. */
  readonly name?: string | undefined
  /** Where the request came from. */
  readonly address?: string | undefined
  readonly requestId?: string | undefined
  /** The surface through which an operator acts. */
  readonly by?: 'command' | 'console' | 'api'
}

/**
 * The dependencies passed to operations of every room. A room that needs more long-lived objects extends this type, as
 * CallDeps of partner-calls does.
 */
export interface Deps {
  readonly config: Config
  readonly db: Db
  readonly clock: Clock
  readonly keys: Keys
  readonly metrics: Metrics
  /** Undefined unless tracing is configured. */
  readonly tracing?: Tracing | undefined
  readonly rateLimiter: RateLimiter
  /** Shared by all sign-ins: users, partners' members and operators. */
  readonly passwordSlots: ConcurrencyLimit
  /** For decoding uploaded pictures. */
  readonly pictureSlots: ConcurrencyLimit
  /** For creating test users of apps. */
  readonly testUserSlots: ConcurrencyLimit
  readonly longReads: LongReads
  /** For the audit log; the service itself if absent. */
  readonly actor?: Actor
  /**
   * Set for durable jobs, which another worker may take over: throws once the lease is lost or about to expire. Call it
   * right before sending anything that must not be sent twice.
   */
  readonly assertLeaseHeld?: () => void
}

/** Runs `work` in one transaction; `inside` has the transaction as its `db`. */
export const inTransaction = <Given extends { readonly db: Db }, Done>(
  given: Given,
  work: (inside: Given, db: Db) => Promise<Done>,
): Promise<Done> => given.db.tx((db) => work({ ...given, db }, db))

/** Like `inTransaction`, on the shard of the person with this routing key. */
export const inPersonTransaction = <Given extends { readonly db: Db }, Done>(
  given: Given,
  routingKey: number,
  work: (inside: Given, db: Db) => Promise<Done>,
): Promise<Done> => given.db.of(routingKey).tx((db) => work({ ...given, db }, db))
