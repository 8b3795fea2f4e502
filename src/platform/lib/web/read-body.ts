import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyRequest } from 'fastify'

/** The bytes of a body, or why they are missing. */
type ReadBody = Buffer | 'too-large' | 'too-slow' | 'no-room'

/** Memory per chunk besides its bytes: a million chunks of one byte would otherwise hold a hundred times their size. */
const CHUNK_OVERHEAD = 256
/** How much of a body beyond its limit is still read, so that its sender gets to the response. */
const MAX_EXCESS = 4 * 1_048_576

/**
 * Reads a body up to a limit. A longer one is read and dropped, since many clients read the response only after they
 * have sent everything. Rejects when the connection breaks.
 */
export function readBody(
  raw: IncomingMessage,
  held: HeldBody,
  limits: { bytes: number; seconds: number },
): Promise<ReadBody> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    let refused: 'too-large' | 'no-room' | undefined

    const onData = (chunk: Buffer) => {
      size += chunk.length
      if (size > limits.bytes + MAX_EXCESS) return end('too-large')
      if (size > limits.bytes) refuse('too-large')
      if (refused) return
      if (held.add(chunk.length + CHUNK_OVERHEAD)) chunks.push(chunk)
      else refuse('no-room')
    }
    const refuse = (why: 'too-large' | 'no-room') => {
      refused ??= why
      chunks.length = 0
      held.release()
    }
    const onEnd = () => end(refused ?? Buffer.concat(chunks))
    const onBroken = () => {
      stop()
      held.release()
      reject(Object.assign(new Error('the body broke off'), { statusCode: 400 }))
    }
    const timer = setTimeout(() => end(refused ?? 'too-slow'), limits.seconds * 1000)
    const stop = () => {
      clearTimeout(timer)
      raw.off('data', onData).off('end', onEnd).off('error', onBroken).off('close', onBroken)
    }
    const end = (body: ReadBody) => {
      stop()
      if (!Buffer.isBuffer(body)) held.release()
      resolve(body)
    }
    raw.on('data', onData).on('end', onEnd).on('error', onBroken).on('close', onBroken)
  })
}

const REST_BYTES = 4 * 1_048_576
const REST_MS = 10_000

/**
 * For a request that is answered before its body has arrived: drops the rest, because closing a connection with unread
 * bytes resets it and loses the response. A client that sends too much, or for too long, loses the connection.
 */
export function dropRest(raw: IncomingMessage): void {
  if (raw.complete !== false) return
  const { socket } = raw
  let left = REST_BYTES
  const timer = setTimeout(() => socket.destroy(), REST_MS).unref()
  const over = () => clearTimeout(timer)
  raw.on('error', over).once('end', over).once('close', over)
  raw.on('data', (chunk: Buffer) => {
    left -= chunk.length
    if (left < 0) socket.destroy()
  })
  raw.resume()
}

/** For routes with parameters in the query string (REFERENCE "Endpoints of area A"): accepts any body and drops it. */
export function acceptAnyBodyUnread(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, payload, done) => {
    payload.resume()
    done(null)
  })
  ignoreContentType(app, () => true)
}

/**
 * Hides the Content-Type from Fastify, which would answer 415 to an invalid one, such as `json` or an empty one, before
 * any route, and to a known one without a body.
 */
export function ignoreContentType(app: FastifyInstance, when: (request: FastifyRequest) => boolean): void {
  if (!app.hasRequestDecorator('sentType')) app.decorateRequest('sentType', undefined)
  app.addHook('preParsing', (request, _reply, payload, done) => {
    if (when(request)) {
      request.sentType ??= request.headers['content-type']
      // Not deleted, which would make access to all headers slow.
      if (request.sentType !== undefined) request.raw.headers['content-type'] = undefined
    }
    done(null, payload)
  })
}

/** Restores the hidden header, for routes that check or record it. */
export function showContentType(app: FastifyInstance): void {
  app.addHook('preValidation', (request, _reply, done) => {
    if (request.sentType !== undefined) request.raw.headers['content-type'] = request.sentType
    done()
  })
}

export const hasBody = ({ headers }: Pick<IncomingMessage, 'headers'>): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0

/**
 * Limits the bytes of request bodies that this process holds at once. One holder (a partner, or all unknown callers
 * together) may have a quarter, so that slow or large senders do not take the others' memory.
 */
class BodyMemory {
  readonly #max: number
  readonly #maxPerHolder: number
  readonly #byHolder = new Map<string, number>()
  #held = 0

  constructor(bytes: number) {
    this.#max = bytes
    this.#maxPerHolder = Math.ceil(bytes / 4)
  }

  get held(): number {
    return this.#held
  }

  /** False, and nothing is counted, if there is no room. */
  take(holder: string, bytes: number): boolean {
    const own = (this.#byHolder.get(holder) ?? 0) + bytes
    if (own > this.#maxPerHolder || this.#held + bytes > this.#max) return false
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
    heldBody: HeldBody | null
    /** The Content-Type while it is hidden from Fastify. */
    sentType: string | undefined
  }
}

/** Call once, before the rooms. */
export function boundBodyMemory(app: FastifyInstance, megabytes: number): void {
  app.decorate('bodyMemory', new BodyMemory(megabytes * 1_048_576))
  app.decorateRequest('heldBody', null)
}

/** For plugins that read bodies: releases a body's memory when its request is answered, which always happens. */
export function releaseWhenAnswered(app: FastifyInstance): void {
  app.addHook('onSend', (request, _reply, _payload, done) => {
    request.heldBody?.release()
    done()
  })
}
