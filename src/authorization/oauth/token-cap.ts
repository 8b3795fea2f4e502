import type { Config } from '../../platform/config/index.ts'
import type { Db } from '../../platform/db/sql.ts'
import type { Deps } from '../../platform/deps.ts'
import { logBackgroundFailure, type SampledLog } from '../../platform/lib/sampled-log.ts'
import { endOldestAccessTokens } from './token-store.ts'

/** Routing keys are of 16 bits. */
const ROUTING_KEYS = 2 ** 16
/** A routing key's tokens are read after at least this many refreshes. */
const MIN_REFRESHES = 128
/** Keys with more tokens are read less often, so that the cost per refresh stays the same. */
const TOKENS_PER_REFRESH = 4
const MAX_REFRESHES = 2 ** 16 - 1
const REFRESHES_AFTER_FAILURE = 4_096
const EVERY_MS = 100
/** Routing keys per statement. */
const MAX_KEYS = 20

/**
 * Limits the live access tokens of a grant to ACCESS_TOKENS_PER_GRANT, since each refresh adds a row that lives for a week.
 *
 * Grants above it are found by reading all tokens of a routing key in the background, after a number of its refreshes: an
 * index by grant would make every exchange and refresh a tenth slower. Until then a grant may have about 128 more per
 * process, or a quarter of the tokens of its routing key, including ended ones.
 */
export class TokenCap {
  readonly #db: Db
  readonly #maxTokens: number
  readonly #log: SampledLog
  readonly #left = new Uint16Array(ROUTING_KEYS).fill(MIN_REFRESHES)
  readonly #due = new Set<number>()
  #timer: NodeJS.Timeout | undefined
  #running: Promise<void> = Promise.resolve()

  constructor(db: Db, { ACCESS_TOKENS_PER_GRANT }: Pick<Config, 'ACCESS_TOKENS_PER_GRANT'>, log: SampledLog) {
    this.#db = db
    this.#maxTokens = ACCESS_TOKENS_PER_GRANT
    this.#log = log
  }

  /** Ends once nothing is being read or deleted any more. */
  close(): Promise<void> {
    clearTimeout(this.#timer)
    this.#due.clear()
    return this.#running
  }

  /** To be called when a refresh has issued an access token. */
  refreshed(routingKey: number): void {
    const left = (this.#left[routingKey] ?? 0) - 1
    this.#left[routingKey] = left > 0 ? left : MIN_REFRESHES
    if (left > 0) return
    this.#due.add(routingKey)
    if (!this.#timer) this.#schedule()
  }

  #schedule(): void {
    const run = () => {
      this.#running = this.#endOldest()
    }
    this.#timer = setTimeout(run, EVERY_MS).unref()
  }

  async #endOldest(): Promise<void> {
    const routingKeys = [...this.#due].slice(0, MAX_KEYS)
    for (const routingKey of routingKeys) this.#due.delete(routingKey)
    try {
      for (const { routing_key, tokens } of await endOldestAccessTokens(this.#db, routingKeys, this.#maxTokens)) {
        this.#left[routing_key] = Math.min(MAX_REFRESHES, Math.max(MIN_REFRESHES, tokens / TOKENS_PER_REFRESH))
      }
    } catch (error) {
      for (const routingKey of routingKeys) this.#left[routingKey] = REFRESHES_AFTER_FAILURE
      logBackgroundFailure(this.#log, 'access tokens beyond ACCESS_TOKENS_PER_GRANT could not be ended', error)
    }
    this.#timer = undefined
    if (this.#due.size > 0) this.#schedule()
  }
}

/** What operations that issue tokens need. */
export interface TokenDeps extends Deps {
  readonly tokenCap: Pick<TokenCap, 'refreshed'>
}
