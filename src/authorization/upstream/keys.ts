import { createLocalJWKSet, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose'
import type { CustomFetch } from 'openid-client'
import type { Deps } from '../../platform/deps.ts'
import { addSeconds } from '../../platform/lib/clock.ts'
import { UpstreamFailure } from './failures.ts'
import { failureOf, isUnknownKey } from './library-errors.ts'

/** How long keys are used without asking again, and at most while the provider does not answer: seconds. */
const FRESH_S = 600
const STALE_S = 3_600
/** How often it is asked at most: for a key that is not among those that were read, and after a failure. */
const UNKNOWN_KEY_S = 30
const FAILED_S = 5

interface Held {
  readonly keys: JWTVerifyGetKey
  readonly readAt: Date
}

/** The keys with which the provider signs logout tokens. Anybody can make us look for one, so it is asked rarely. */
export class ProviderKeys {
  readonly #clock: Pick<Deps['clock'], 'now'>
  readonly #fetch: CustomFetch
  #held: Held | undefined
  #asking: Promise<Held> | undefined
  #failedAt: Date | undefined

  constructor(clock: Pick<Deps['clock'], 'now'>, fetch: CustomFetch) {
    this.#clock = clock
    this.#fetch = fetch
  }

  /** Verifies with the keys that are held, and reads them anew only where they are old or lack the one that is asked for. */
  async verify<T>(url: string, verify: (keys: JWTVerifyGetKey) => Promise<T>): Promise<T> {
    const before = this.#held
    const isFresh = before !== undefined && this.#within(before.readAt, FRESH_S)
    const held = isFresh ? before : await this.#read(url, this.#usable)
    try {
      return await verify(held.keys)
    } catch (error) {
      if (held !== before || !isUnknownKey(error)) throw error
      // It may be a new one. Where that cannot be found out now, the provider is told to come back.
      if (!isFresh || this.#within(held.readAt, UNKNOWN_KEY_S)) throw new UpstreamFailure('away', 'an unknown key')
      return verify((await this.#read(url)).keys)
    }
  }

  get #usable(): Held | undefined {
    return this.#held && this.#within(this.#held.readAt, STALE_S) ? this.#held : undefined
  }

  #within(moment: Date | undefined, seconds: number): boolean {
    return moment !== undefined && addSeconds(moment, seconds) > this.#clock.now()
  }

  /** One call at a time, which all who wait for it share; `otherwise` where the keys cannot be read. */
  async #read(url: string, otherwise?: Held): Promise<Held> {
    if (!this.#asking && this.#within(this.#failedAt, FAILED_S)) {
      if (otherwise) return otherwise
      throw new UpstreamFailure('away', 'its keys could not be read a moment ago')
    }
    this.#asking ??= this.#ask(url).finally(() => {
      this.#asking = undefined
    })
    return this.#asking.catch((error: unknown) => {
      this.#failedAt = this.#clock.now()
      if (otherwise) return otherwise
      throw failureOf(error, true)
    })
  }

  async #ask(url: string): Promise<Held> {
    const options = {
      method: 'GET',
      headers: { accept: 'application/json' },
      body: undefined,
      redirect: 'manual',
    } as const
    const answer = await this.#fetch(url, options)
    if (answer.status !== 200) throw new UpstreamFailure('away', `its keys: HTTP ${answer.status}`)
    const keys = createLocalJWKSet((await answer.json()) as JSONWebKeySet)
    this.#held = { keys, readAt: this.#clock.now() }
    return this.#held
  }
}
