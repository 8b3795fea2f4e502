import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyRequest } from 'fastify'

export interface ReadLimits {
  readonly bytes: number
  readonly seconds: number
}

/** The bytes of a body, or why they are missing. */
export type ReadBody = Buffer | 'too-large' | 'too-slow' | 'no-room'

/** A piece costs more than its bytes: without this a million pieces of one byte would hold a hundred times as much. */
const PIECE = 256
/** A body beyond its limit is still read, so that its sender reads the response; but not without end. */
const READ_ON = 4 * 1_048_576

/**
 * Reads a body, or finds that it is too long. A body that is too long is read and dropped: many clients read the
 * response only after they have sent everything. Rejects when the connection breaks.
 */
export function readBody(raw: IncomingMessage, held: HeldBody, limits: ReadLimits): Promise<ReadBody> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = []
    let size = 0
    let refused: 'too-large' | 'no-room' | undefined

    const onData = (piece: Buffer) => {
      size += piece.length
      if (size > limits.bytes + READ_ON) return end('too-large')
      if (size > limits.bytes) refuse('too-large')
      if (refused) return
      if (held.add(piece.length + PIECE)) pieces.push(piece)
      else refuse('no-room')
    }
    const refuse = (why: 'too-large' | 'no-room') => {
      refused ??= why
      pieces.length = 0
      held.release()
    }
    const onEnd = () => end(refused ?? Buffer.concat(pieces))
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
 * For a request that is answered before its body has arrived: the rest is dropped, so that the response arrives
 * (closing a connection with unread bytes resets it). A client that keeps sending after that loses the connection.
 */
export function dropRest(raw: IncomingMessage): void {
  if (raw.complete !== false) return
  const { socket } = raw
  let left = REST_BYTES
  const timer = setTimeout(() => socket.destroy(), REST_MS).unref()
  const over = () => clearTimeout(timer)
  raw.on('error', over).once('end', over).once('close', over)
  raw.on('data', (piece: Buffer) => {
    left -= piece.length
    if (left < 0) socket.destroy()
  })
  raw.resume()
}

/** Parameters are in the query string (REFERENCE "Endpoints of area A"): whatever body comes along is let through and dropped. */
export function acceptAnyBodyUnread(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, payload, done) => {
    payload.resume()
    done(null)
  })
  ignoreContentType(app, () => true)
}

/**
 * Hides the Content-Type while a body is read, or passed over. Fastify would answer 415 to one that is none, such as `json`
 * or an empty one, before any route, and to a known one without a body.
 */
export function ignoreContentType(app: FastifyInstance, when: (request: FastifyRequest) => boolean): void {
  if (!app.hasRequestDecorator('sentType')) app.decorateRequest('sentType', undefined)
  app.addHook('preParsing', (request, _reply, payload, done) => {
    if (when(request)) {
      request.sentType ??= request.headers['content-type']
      // Deleted, it would make all headers slow to read.
      if (request.sentType !== undefined) request.raw.headers['content-type'] = undefined
    }
    done(null, payload)
  })
}

/** Where the header is looked at, or kept with the call. */
export function showContentType(app: FastifyInstance): void {
  app.addHook('preValidation', (request, _reply, done) => {
    if (request.sentType !== undefined) request.raw.headers['content-type'] = request.sentType
    done()
  })
}

/** Whether the caller sent one; a message may then say where parameters go. */
export const hasBody = ({ headers }: FastifyRequest): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0

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
    /** The Content-Type while it is hidden from Fastify. */
    sentType: string | undefined
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
