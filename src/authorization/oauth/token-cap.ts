import type { Config } from '../../platform/config/index.ts'
import type { Db } from '../../platform/db/sql.ts'
import type { Deps } from '../../platform/deps.ts'
import { logBackgroundFailure, type SampledLog } from '../../platform/lib/sampled-log.ts'
import { endOldestAccessTokens } from './token-store.ts'

/** Routing keys are of 16 bits. */
const ROUTING_KEYS = 2 ** 16
/** The least number of refreshes of a routing key before its tokens are read. */
const REFRESHES = 128
/** Keys with more tokens are read less often, so that the cost for each refresh stays the same. */
const TOKENS_PER_REFRESH = 4
const MAX_REFRESHES = 2 ** 16 - 1
const REFRESHES_AFTER_FAILURE = 4_096
const LOOK_EVERY_MS = 100
/** Routing keys of one statement at most. */
const AT_ONCE = 20

/**
 * Limits the live access tokens of a grant to ACCESS_TOKENS_PER_GRANT: each refresh adds a row that lives for a week.
 *
 * Grants above the limit are found by reading all tokens of a routing key, because an index by grant would slow every
 * exchange and refresh down by a tenth. This runs in the background, after a number of refreshes of that key. Until then
 * a grant may have more: about 128 a process, which has one of these for both dialects, or a quarter of the tokens of its
 * routing key, ended ones too.
 */
export class TokenCap {
  readonly #db: Db
  readonly #most: number
  readonly #log: SampledLog
  readonly #left = new Uint16Array(ROUTING_KEYS).fill(REFRESHES)
  readonly #due = new Set<number>()
  #timer: NodeJS.Timeout | undefined

  constructor(db: Db, { ACCESS_TOKENS_PER_GRANT }: Pick<Config, 'ACCESS_TOKENS_PER_GRANT'>, log: SampledLog) {
    this.#db = db
    this.#most = ACCESS_TOKENS_PER_GRANT
    this.#log = log
  }

  close(): void {
    clearTimeout(this.#timer)
    this.#due.clear()
  }

  /** A refresh has issued an access token. */
  refreshed(routingKey: number): void {
    const left = (this.#left[routingKey] ?? 0) - 1
    this.#left[routingKey] = left > 0 ? left : REFRESHES
    if (left > 0) return
    this.#due.add(routingKey)
    this.#timer ??= setTimeout(() => void this.#look(), LOOK_EVERY_MS).unref()
  }

  async #look(): Promise<void> {
    const routingKeys = [...this.#due].slice(0, AT_ONCE)
    for (const routingKey of routingKeys) this.#due.delete(routingKey)
    try {
      for (const { routing_key, tokens } of await endOldestAccessTokens(this.#db, routingKeys, this.#most)) {
        this.#left[routing_key] = Math.min(MAX_REFRESHES, Math.max(REFRESHES, tokens / TOKENS_PER_REFRESH))
      }
    } catch (error) {
      for (const routingKey of routingKeys) this.#left[routingKey] = REFRESHES_AFTER_FAILURE
      logBackgroundFailure(this.#log, 'access tokens beyond ACCESS_TOKENS_PER_GRANT could not be ended', error)
    }
    this.#timer = this.#due.size > 0 ? setTimeout(() => void this.#look(), LOOK_EVERY_MS).unref() : undefined
  }
}

/** For operations that issue tokens. */
export interface TokenDeps extends Deps {
  readonly tokenCap: Pick<TokenCap, 'refreshed'>
}
