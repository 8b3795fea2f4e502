import { createLocalJWKSet, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose'
import type { CustomFetch } from 'openid-client'
import type { Deps } from '../../platform/deps.ts'
import { isWithin } from '../../platform/lib/clock.ts'
import { UpstreamFailure } from './failures.ts'
import { failureOf, isUnknownKey } from './library-errors.ts'

/** How long keys are used before they are fetched again, and at most while the provider does not answer, seconds. */
const FRESH_S = 600
const STALE_S = 3_600
/** The least time between fetches: for an unknown key, and after a failure. */
const UNKNOWN_KEY_S = 30
const FAILED_S = 5

interface Held {
  readonly keys: JWTVerifyGetKey
  readonly readAt: Date
}

/** Caches the keys for the provider's logout tokens. Anybody can present an unknown key, so they are fetched rarely. */
export class ProviderKeys {
  readonly #clock: Pick<Deps['clock'], 'now'>
  readonly #fetch: CustomFetch
  #held: Held | undefined
  #fetching: Promise<Held> | undefined
  #failedAt: Date | undefined

  constructor(clock: Pick<Deps['clock'], 'now'>, fetch: CustomFetch) {
    this.#clock = clock
    this.#fetch = fetch
  }

  /** Verifies with the cached keys, and fetches them again if they are old or the key is not among them. */
  async verify<T>(url: string, verify: (keys: JWTVerifyGetKey) => Promise<T>): Promise<T> {
    const before = this.#held
    const isFresh = before !== undefined && this.#within(before.readAt, FRESH_S)
    const held = isFresh ? before : await this.#read(url, this.#usable)
    try {
      return await verify(held.keys)
    } catch (error) {
      if (held !== before || !isUnknownKey(error)) throw error
      // It may be a new key. If the keys cannot be fetched now, the provider is asked to retry later.
      if (!isFresh || this.#within(held.readAt, UNKNOWN_KEY_S)) throw new UpstreamFailure('away', 'an unknown key')
      return verify((await this.#read(url)).keys)
    }
  }

  get #usable(): Held | undefined {
    return this.#held && this.#within(this.#held.readAt, STALE_S) ? this.#held : undefined
  }

  #within(moment: Date | undefined, seconds: number): boolean {
    return isWithin(moment, seconds, this.#clock.now())
  }

  /** One fetch at a time, shared by concurrent callers. Returns `fallback`, if any, when the keys cannot be fetched. */
  async #read(url: string, fallback?: Held): Promise<Held> {
    if (!this.#fetching && this.#within(this.#failedAt, FAILED_S)) {
      if (fallback) return fallback
      throw new UpstreamFailure('away', 'its keys could not be read a moment ago')
    }
    this.#fetching ??= this.#fetchKeys(url).finally(() => {
      this.#fetching = undefined
    })
    return this.#fetching.catch((error: unknown) => {
      this.#failedAt = this.#clock.now()
      if (fallback) return fallback
      throw failureOf(error, true)
    })
  }

  async #fetchKeys(url: string): Promise<Held> {
    const options = {
      method: 'GET',
      headers: { accept: 'application/json' },
      body: undefined,
      redirect: 'manual',
    } as const
    const answer = await this.#fetch(url, options)
    if (answer.status !== 200) throw new UpstreamFailure('away', `its keys: HTTP ${answer.status}`)
    const body: unknown = await answer.json().catch(() => {
      throw new UpstreamFailure('away', 'its keys are not JSON')
    })
    const keys = createLocalJWKSet(body as JSONWebKeySet)
    this.#held = { keys, readAt: this.#clock.now() }
    return this.#held
  }
}
