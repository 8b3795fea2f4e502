import { createLocalJWKSet } from 'jose'
import { z } from 'zod'
import { KEY_SET_LIMITS } from '../../platform/config/call-limits.ts'
import { addSeconds } from '../../platform/lib/clock.ts'
import { ConcurrencyLimit } from '../../platform/lib/concurrency-limit.ts'
import { listOf } from '../../platform/lib/json/shape.ts'
import { cutTo } from '../../platform/lib/storable.ts'
import { readUtf8 } from '../../platform/lib/utf8.ts'
import type { OutboundDeps } from '../../platform/outbound/index.ts'
import { get } from '../../platform/outbound/index.ts'
import { publicKey } from '../registry/index.ts'

/** How long keys are used without asking again, and at most while their URL does not answer: seconds. */
const FRESH_S = 300
const STALE_S = 3_600
/** How often a URL is asked at most: for a key that is not among those that were read, and after a failure. */
const UNKNOWN_KEY_S = 60
const FAILED_S = 10
/** Key sets that a process keeps; the one that has not been asked for longest goes first. */
const MAX_SETS = 100
const MAX_KEYS = 50
/** Answers that say for certain that there is no key set any more: what was read before ends with them. */
const GONE: readonly number[] = [404, 410]

const keySet = z.object({ keys: listOf('registered', z.unknown()).max(MAX_KEYS) })
type PublicKey = z.output<typeof publicKey>

interface Known {
  readonly keys: readonly PublicKey[]
  /** Null where nothing has been read yet. */
  readonly readAt: Date | null
  readonly askedAt: Date
  /** Why nothing came the last time, without addresses; undefined where something did. */
  readonly problem: string | undefined
}

/**
 * The keys that clients publish at a URL, as this process has read them last. Anybody can make it look for a key, so a URL
 * is asked rarely, briefly and through the address guard, whatever is presented.
 */
export class ClientKeys {
  readonly #deps: Pick<OutboundDeps, 'calls' | 'clock'>
  readonly #known = new Map<string, Known>()
  readonly #asking = new Map<string, Promise<Known>>()
  readonly #reads = new ConcurrencyLimit({ name: 'key sets of clients', most: 8, length: 50, waitMs: 3_000 })

  constructor(deps: Pick<OutboundDeps, 'calls' | 'clock'>) {
    this.#deps = deps
  }

  /** The keys of this URL for an assertion whose key has this id; without any key where nothing could be read. */
  async at(url: string, kid: string | undefined) {
    const before = this.#known.get(url)
    const known = this.#isEnough(before, kid) ? before : await this.#ask(url)
    this.#keep(url, known)
    const now = this.#deps.clock.now()
    const isUsable = known.readAt !== null && addSeconds(known.readAt, STALE_S) > now
    return { keys: createLocalJWKSet({ keys: isUsable ? [...known.keys] : [] }), problem: known.problem }
  }

  #isEnough(known: Known | undefined, kid: string | undefined): known is Known {
    if (!known) return false
    const now = this.#deps.clock.now()
    const askedWithin = (seconds: number) => addSeconds(known.askedAt, seconds) > now
    if (known.problem !== undefined) return askedWithin(FAILED_S)
    const hasKey = kid === undefined || known.keys.some((key) => key.kid === kid)
    return askedWithin(hasKey ? FRESH_S : UNKNOWN_KEY_S)
  }

  #keep(url: string, known: Known): void {
    this.#known.delete(url)
    this.#known.set(url, known)
    const [oldest] = this.#known.keys()
    if (this.#known.size > MAX_SETS && oldest !== undefined) this.#known.delete(oldest)
  }

  /** One call a URL at a time, which all who wait for it share. */
  #ask(url: string): Promise<Known> {
    const asking =
      this.#asking.get(url) ?? this.#reads.run(() => this.#read(url)).finally(() => this.#asking.delete(url))
    this.#asking.set(url, asking)
    return asking
  }

  async #read(url: string): Promise<Known> {
    const askedAt = this.#deps.clock.now()
    const before = this.#known.get(url)
    const request = { url, headers: { accept: 'application/jwk-set+json, application/json' } }
    try {
      const { status, body } = await get(request, this.#deps.calls.guard, KEY_SET_LIMITS)
      if (GONE.includes(status)) return { keys: [], readAt: null, askedAt, problem: `HTTP ${status}` }
      if (status !== 200) throw new Error(`HTTP ${status}`)
      const read = readUtf8(body)
      if ('problem' in read) throw new SyntaxError(String(read.problem))
      const { keys } = keySet.parse(JSON.parse(read.text))
      // A set may also hold keys for other things, and of kinds that are not known here (RFC 7517 §5).
      const known = keys.map((key) => publicKey.safeParse(key).data).filter((key) => key !== undefined)
      return { keys: known, readAt: askedAt, askedAt, problem: undefined }
    } catch (error) {
      return { keys: before?.keys ?? [], readAt: before?.readAt ?? null, askedAt, problem: problemOf(error) }
    }
  }
}

/** Nothing of the answer itself, which messages of JSON.parse and zod quote. */
function problemOf(error: unknown): string {
  if (error instanceof SyntaxError || error instanceof z.ZodError) return 'no JSON Web Key Set'
  return error instanceof Error ? cutTo(`${error.name} ${error.message}`, 200) : 'unknown'
}
