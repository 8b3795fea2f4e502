import { createLocalJWKSet, type JWTVerifyGetKey } from 'jose'
import { z } from 'zod'
import { KEY_SET_LIMITS } from '../../platform/config/call-limits.ts'
import { addSeconds, isWithin } from '../../platform/lib/clock.ts'
import { ConcurrencyLimit } from '../../platform/lib/concurrency-limit.ts'
import { listOf } from '../../platform/lib/json/shape.ts'
import { cutTo } from '../../platform/lib/storable.ts'
import { readUtf8 } from '../../platform/lib/utf8.ts'
import type { OutboundDeps } from '../../platform/outbound/index.ts'
import { get } from '../../platform/outbound/index.ts'
import { publicKey } from '../registry/index.ts'

/** How long keys are used before they are fetched again, and at most while their URL does not answer, seconds. */
const FRESH_S = 300
const STALE_S = 3_600
/** The least time between fetches of a URL: for an unknown key, and after a failure. */
const UNKNOWN_KEY_S = 60
const FAILED_S = 10
/** Key sets kept per process; the least recently used is dropped. */
const MAX_SETS = 100
const MAX_KEYS = 50
/** The key set is gone for certain: keys that were read before are no longer used. */
const GONE: readonly number[] = [404, 410]

const keySet = z.object({ keys: listOf('registered', z.unknown()).max(MAX_KEYS) })
type PublicKey = z.output<typeof publicKey>

interface Known {
  readonly keys: readonly PublicKey[]
  /** Chooses one of them, and keeps what it has made of it. */
  readonly keySet: JWTVerifyGetKey
  /** Null if nothing has been read yet. */
  readonly readAt: Date | null
  readonly fetchedAt: Date
  /** Why the last fetch failed, without addresses; undefined if it succeeded. */
  readonly problem: string | undefined
}

const NONE = { keys: [], keySet: createLocalJWKSet({ keys: [] }), readAt: null }

/** Caches the keys that clients publish. Anybody can name an unknown key, so a URL is fetched rarely and briefly. */
export class ClientKeys {
  readonly #deps: Pick<OutboundDeps, 'calls' | 'clock'>
  readonly #known = new Map<string, Known>()
  readonly #fetching = new Map<string, Promise<Known>>()
  readonly #fetches = new ConcurrencyLimit({ name: 'key sets of clients', most: 8, length: 50, waitMs: 3_000 })

  constructor(deps: Pick<OutboundDeps, 'calls' | 'clock'>) {
    this.#deps = deps
  }

  /** The keys at this URL, for an assertion whose key has this id; none if they cannot be read. */
  async at(url: string, kid: string | undefined) {
    const before = this.#known.get(url)
    const known = this.#isFresh(before, kid) ? before : await this.#fetch(url)
    this.#keep(url, known)
    const now = this.#deps.clock.now()
    const isUsable = known.readAt !== null && addSeconds(known.readAt, STALE_S) > now
    return { keys: isUsable ? known.keySet : NONE.keySet, problem: known.problem }
  }

  #isFresh(known: Known | undefined, kid: string | undefined): known is Known {
    if (!known) return false
    const now = this.#deps.clock.now()
    const fetchedWithin = (seconds: number) => isWithin(known.fetchedAt, seconds, now)
    if (known.problem !== undefined) return fetchedWithin(FAILED_S)
    const hasKey = kid === undefined || known.keys.some((key) => key.kid === kid)
    return fetchedWithin(hasKey ? FRESH_S : UNKNOWN_KEY_S)
  }

  #keep(url: string, known: Known): void {
    this.#known.delete(url)
    this.#known.set(url, known)
    const [oldest] = this.#known.keys()
    if (this.#known.size > MAX_SETS && oldest !== undefined) this.#known.delete(oldest)
  }

  /** One fetch per URL at a time, shared by concurrent callers. */
  #fetch(url: string): Promise<Known> {
    const fetching =
      this.#fetching.get(url) ?? this.#fetches.run(() => this.#read(url)).finally(() => this.#fetching.delete(url))
    this.#fetching.set(url, fetching)
    return fetching
  }

  async #read(url: string): Promise<Known> {
    const fetchedAt = this.#deps.clock.now()
    const before = this.#known.get(url) ?? NONE
    const request = { url, headers: { accept: 'application/jwk-set+json, application/json' } }
    try {
      const { status, body } = await get(request, this.#deps.calls.guard, KEY_SET_LIMITS)
      if (GONE.includes(status)) return { ...NONE, fetchedAt, problem: `HTTP ${status}` }
      if (status !== 200) throw new Error(`HTTP ${status}`)
      const read = readUtf8(body)
      if ('problem' in read) throw new SyntaxError(String(read.problem))
      const { keys } = keySet.parse(JSON.parse(read.text))
      // Keys for other uses, or of types that we do not know, are skipped (RFC 7517 §5).
      const known = keys.map((key) => publicKey.safeParse(key).data).filter((key) => key !== undefined)
      return {
        keys: known,
        keySet: createLocalJWKSet({ keys: known }),
        readAt: fetchedAt,
        fetchedAt,
        problem: undefined,
      }
    } catch (error) {
      return { ...before, fetchedAt, problem: problemOf(error) }
    }
  }
}

/** Errors of JSON.parse and zod quote the response, so their messages are not used. */
function problemOf(error: unknown): string {
  if (error instanceof SyntaxError || error instanceof z.ZodError) return 'no JSON Web Key Set'
  return error instanceof Error ? cutTo(`${error.name} ${error.message}`, 200) : 'unknown'
}
