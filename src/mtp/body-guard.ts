import type { FastifyInstance, FastifyRequest } from 'fastify'
import { bodyRejected } from './errors.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The Content-Type header while fastify must not see it. */
    sentType: string | undefined
  }
}

const LIMIT = 1024 * 1024
const JSON_TYPE = /^\s*(?:(?:application|text)\/json|[\w.+-]+\/[\w.+-]+\+json)\s*(?:;.*)?$/i
const CHARSET = /;\s*charset\s*=\s*"?([^";\s]*)"?/i

/** The bytes of a body as they came, or that there were too many of them. */
type RawBody = Buffer | 'too-large'

/**
 * Every content type is let through as bytes, and too many bytes are only noted: whether the body is any good is told
 * to a caller whose signature was right, and to nobody else (decisions, section 3, "Order of checks").
 */
export function acceptRawBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  hideContentType(app)
  app.addContentTypeParser('*', (_request: FastifyRequest, payload: AsyncIterable<Buffer>) =>
    bytesOf(payload).catch((cause: Error) => {
      throw Object.assign(new Error('the body broke off', { cause }), { statusCode: 400 })
    }),
  )
}

async function bytesOf(payload: AsyncIterable<Buffer>): Promise<RawBody> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of payload) {
    size += chunk.length
    if (size <= LIMIT) chunks.push(chunk)
    else chunks.length = 0
  }
  return size <= LIMIT ? Buffer.concat(chunks) : 'too-large'
}

/** Fastify answers a Content-Type that it cannot read with 415 before the body is read, and so before the guard. */
function hideContentType(app: FastifyInstance): void {
  app.decorateRequest('sentType', undefined)
  app.addHook('onRequest', async (request) => {
    request.sentType = request.headers['content-type']
    delete request.raw.headers['content-type']
  })
  app.addHook('preValidation', async (request) => {
    if (request.sentType !== undefined) request.raw.headers['content-type'] = request.sentType
  })
}

/** The bytes of a JSON body; throws what to tell the (authenticated) caller. */
export function jsonBytes({ body, headers }: FastifyRequest): Buffer {
  if (body === 'too-large') throw bodyRejected('HTTP body: longer than 1 MiB')
  requireJson(headers['content-type'])
  return Buffer.isBuffer(body) ? body : Buffer.alloc(0)
}

/** Throws what to tell the caller about a Content-Type that is not JSON in UTF-8. */
export function requireJson(type = ''): void {
  if (!JSON_TYPE.test(type)) throw bodyRejected('Content-Type must be application/json; charset=utf-8')
  const charset = CHARSET.exec(type)?.[1]
  if (charset !== undefined && !/^utf-?8$/i.test(charset)) throw bodyRejected('Content-Type: charset must be utf-8')
}

/** What stands for a body that was not read to its end. */
export const TOO_LONG = '(longer than 1 MiB)'

/** A body as text, for the partner to look at. */
export const readableBody = (body: unknown): string => {
  if (body === 'too-large') return TOO_LONG
  // PostgreSQL has no way to hold a NUL.
  return Buffer.isBuffer(body) ? body.toString('utf8').replaceAll('\0', '\ufffd') : ''
}
