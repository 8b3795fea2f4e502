import type { Config } from '../config/index.ts'
import type { Db } from '../db/sql.ts'
import type { SampledLog } from '../lib/sampled-log.ts'
import { endOldestTokens } from './refresh-store.ts'

/** Routing keys are of 16 bits. */
const ROUTING_KEYS = 2 ** 16
/** Refreshes of one routing key before its tokens are looked through, at least. */
const REFRESHES = 128
/** A key that had more tokens is looked through less often, so that looking costs each refresh the same. */
const TOKENS_PER_REFRESH = 4
const MOST_REFRESHES = 2 ** 16 - 1
const REFRESHES_AFTER_FAILURE = 4_096
const LOOK_EVERY_MS = 100
/** Routing keys in one statement. */
const AT_ONCE = 20

/**
 * A grant keeps so many access tokens: otherwise an app that refreshes all the time would add a row of a week each time.
 * Who has too many is found by reading all tokens of a routing key, since an index by grant would cost every exchange and
 * refresh a tenth of its rate. That is done after some refreshes of the key, and apart from them. In between a grant may
 * have more, by about 128 a process, or a quarter of what its routing key has.
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

  /** One token more has been issued. */
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
      for (const { routing_key, tokens } of await endOldestTokens(this.#db, routingKeys, this.#most)) {
        this.#left[routing_key] = Math.min(MOST_REFRESHES, Math.max(REFRESHES, tokens / TOKENS_PER_REFRESH))
      }
    } catch (err) {
      for (const routingKey of routingKeys) this.#left[routingKey] = REFRESHES_AFTER_FAILURE
      const message = 'access tokens beyond ACCESS_TOKENS_PER_GRANT could not be ended'
      this.#log.write({ level: 'warn', kind: message, message, fields: () => ({ err }) })
    }
    this.#timer = this.#due.size > 0 ? setTimeout(() => void this.#look(), LOOK_EVERY_MS).unref() : undefined
  }
}
