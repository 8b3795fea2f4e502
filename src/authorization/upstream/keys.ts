import { createLocalJWKSet, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose'
import type { CustomFetch } from 'openid-client'
import { isWithin } from '../../platform/lib/clock.ts'
import { isUnknownKey, UpstreamFailure } from './failures.ts'
import { Published } from './published.ts'

/** The least time between fetches for an unknown key, seconds. */
const UNKNOWN_KEY_S = 30

/** Caches the keys for the provider's logout tokens. Anybody can present an unknown key, so they are fetched rarely. */
export class ProviderKeys {
  readonly #clock: { now(): Date }
  readonly #fetch: CustomFetch
  readonly #keys: Published<JWTVerifyGetKey>

  constructor(clock: { now(): Date }, fetch: CustomFetch) {
    this.#clock = clock
    this.#fetch = fetch
    this.#keys = new Published(clock, { freshS: 600, staleS: 3_600 })
  }

  /** Verifies with the cached keys, and fetches them again if they are old or the key is not among them. */
  async verify<T>(url: string, verify: (keys: JWTVerifyGetKey) => Promise<T>): Promise<T> {
    const fetch = () => this.#fetchKeys(url)
    const before = this.#keys.held
    const held = await this.#keys.read(fetch)
    try {
      return await verify(held.value)
    } catch (error) {
      if (held !== before || !isUnknownKey(error)) throw error
      // It may be a new key. If the keys cannot be fetched now, the provider is asked to retry later.
      const isJustRead = isWithin(held.readAt, UNKNOWN_KEY_S, this.#clock.now())
      if (isJustRead) throw new UpstreamFailure('away', 'an unknown key')
      return verify((await this.#keys.fetch(fetch)).value)
    }
  }

  async #fetchKeys(url: string): Promise<JWTVerifyGetKey> {
    const headers = { accept: 'application/json' }
    const answer = await this.#fetch(url, { method: 'GET', headers, body: undefined, redirect: 'manual' })
    if (answer.status !== 200) throw new UpstreamFailure('away', `its keys: HTTP ${answer.status}`)
    const body: unknown = await answer.json().catch(() => {
      throw new UpstreamFailure('away', 'its keys are not JSON')
    })
    return createLocalJWKSet(body as JSONWebKeySet)
  }
}
