import type { FastifyInstance } from 'fastify'

/**
 * How many bytes of request bodies this process holds at once, read in part or whole. One holder (a partner, or all
 * unknown callers together) has a quarter of it, so that slow or large senders take no memory from the others.
 */
export class BodyMemory {
  readonly #most: number
  readonly #mostOfOne: number
  readonly #byHolder = new Map<string, number>()
  #held = 0

  constructor(bytes: number) {
    this.#most = bytes
    this.#mostOfOne = Math.ceil(bytes / 4)
  }

  /** Bytes that are held now. */
  get held(): number {
    return this.#held
  }

  /** False where there is no room: then nothing is counted. */
  take(holder: string, bytes: number): boolean {
    const own = (this.#byHolder.get(holder) ?? 0) + bytes
    if (own > this.#mostOfOne || this.#held + bytes > this.#most) return false
    this.#byHolder.set(holder, own)
    this.#held += bytes
    return true
  }

  give(holder: string, bytes: number): void {
    const own = (this.#byHolder.get(holder) ?? 0) - bytes
    if (own > 0) this.#byHolder.set(holder, own)
    else this.#byHolder.delete(holder)
    this.#held -= bytes
  }
}

/** The share of one request. */
export class HeldBody {
  readonly #memory: BodyMemory
  readonly #holder: string
  #bytes = 0

  constructor(memory: BodyMemory, holder: string) {
    this.#memory = memory
    this.#holder = holder
  }

  add(bytes: number): boolean {
    const fits = this.#memory.take(this.#holder, bytes)
    if (fits) this.#bytes += bytes
    return fits
  }

  release(): void {
    if (this.#bytes > 0) this.#memory.give(this.#holder, this.#bytes)
    this.#bytes = 0
  }
}

declare module 'fastify' {
  interface FastifyInstance {
    bodyMemory: BodyMemory
  }
  interface FastifyRequest {
    /** Set while a body of this request is in memory. */
    heldBody: HeldBody | null
  }
}

/** Once, before the rooms. */
export function boundBodyMemory(app: FastifyInstance, megabytes: number): void {
  app.decorate('bodyMemory', new BodyMemory(megabytes * 1_048_576))
  app.decorateRequest('heldBody', null)
}

/** For plugins that read bodies: a body is in memory until its request is answered, and an answer always comes. */
export function releaseWhenAnswered(app: FastifyInstance): void {
  app.addHook('onSend', (request, _reply, _payload, done) => {
    request.heldBody?.release()
    done()
  })
}
