import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { z } from 'zod'
import type { Config } from '../../platform/config/index.ts'
import { ENCRYPTION_STATUS, KEY_DOES_NOT_FIT, openBody } from '../../platform/lib/crypto/aes-body.ts'
import { parseLossless } from '../../platform/lib/json/lossless.ts'
import { problemsText, readShape } from '../../platform/lib/json/shape.ts'
import { type LocalizedText, localized } from '../../platform/lib/localized-text.ts'
import { placed } from '../../platform/lib/utf8.ts'
import { placeholderFor, whyNotKept } from '../../platform/lib/web/body-placeholder.ts'
import { compressedText, otherCharset } from '../../platform/lib/web/body-text.ts'
import {
  dropRest,
  HeldBody,
  hasBody,
  ignoreContentType,
  readBody,
  releaseWhenAnswered,
  showContentType,
} from '../../platform/lib/web/read-body.ts'
import { unavailable } from '../../platform/lib/web/rescode.ts'
import { bodyRejected } from '../mws-wire/index.ts'

declare module 'fastify' {
  interface FastifyRequest {
    decryptedBody: Buffer | undefined
  }
}

const JSON_TYPE = /^\s*(?:(?:application|text)\/json|[\w.+-]+\/[\w.+-]+\+json)\s*(?:;.*)?$/i

/** What `readBody` found, and how many seconds it waited. */
interface SentBody {
  readonly found: Awaited<ReturnType<typeof readBody>>
  readonly seconds: number
}

/**
 * Reads the bodies of this plugin's routes, whatever their Content-Type, up to the `bodyLimit` of the route. Guards run
 * first (onRequest), so the body of a rejected call is never read. A problem with a body is only recorded here: it is
 * reported to callers whose signature is right (REFERENCE "Order of checks of a signed call").
 */
export function acceptRawBodies(app: FastifyInstance, { BODY_TIMEOUT_S }: Pick<Config, 'BODY_TIMEOUT_S'>): void {
  app.removeAllContentTypeParsers()
  app.decorateRequest('decryptedBody', undefined)
  ignoreContentType(app, () => true)
  showContentType(app)
  releaseWhenAnswered(app)
  app.addHook('onSend', (request, _reply, _payload, done) => {
    if (hasBody(request)) dropRest(request.raw)
    done()
  })
  app.addContentTypeParser('*', async (request: FastifyRequest): Promise<SentBody | undefined> => {
    if (request.is404) return undefined
    const { caller, routeOptions } = request
    request.heldBody = new HeldBody(app.bodyMemory, caller ? `partner ${caller.partner_id}` : 'unknown callers')
    const limits = { bytes: routeOptions.bodyLimit ?? 0, seconds: BODY_TIMEOUT_S }
    return { found: await readBody(request.raw, request.heldBody, limits), seconds: BODY_TIMEOUT_S }
  })
}

const EMPTY = Buffer.alloc(0)

/** Throws CallRejected for any other body. */
export function jsonBytes({ body, headers }: Pick<FastifyRequest, 'body' | 'headers'>): Buffer {
  const { found = EMPTY, seconds = 0 } = (body ?? {}) as Partial<SentBody>
  if (found === 'no-room') throw unavailable()
  if (found === 'too-large') throw bodyRejected(localized('body-larger', { most: 1 }))
  if (found === 'too-slow') throw bodyRejected(localized('body-too-slow', { seconds }))
  const compressed = compressedText(headers)
  if (compressed && found.length > 0) throw bodyRejected(localized('http-body', { problem: compressed }))
  requireJson(headers['content-type'])
  return found
}

/** The bytes of an authenticated caller's body, which may be encrypted. */
export function noticeBytes(request: FastifyRequest, key: string | null): { bytes: Buffer; decrypted: boolean } {
  const opened = openBody(jsonBytes(request), request.headers[ENCRYPTION_STATUS], key)
  if ('problem' in opened) throw bodyRejected(opened.problem)
  if (opened.decrypted) {
    request.decryptedBody = opened.bytes
    if (request.heldBody?.add(opened.bytes.length) === false) throw unavailable()
  }
  return opened
}

/** Throws CallRejected unless the Content-Type is JSON in UTF-8. */
export function requireJson(type = ''): void {
  if (!JSON_TYPE.test(type)) throw bodyRejected(localized('type-not-json'))
  if (otherCharset(type) !== undefined) throw bodyRejected(localized('charset-not-utf8'))
}

/** The longest lists have some 11,000 values. A mebibyte of values would block the process for tens of ms. */
export const MAX_VALUES = 40_000

/** Reads a notice. `problem` goes to the caller, without details of a decrypted body; `reason` is for the sandbox. */
export function readNotice<Notice extends z.ZodType>(
  notice: Notice,
  bytes: Uint8Array,
  decrypted = false,
): { notice: z.output<Notice> } | { problem: LocalizedText; reason?: LocalizedText } {
  const json = parseLossless(bytes, MAX_VALUES)
  if ('problem' in json) {
    if (decrypted) return { problem: KEY_DOES_NOT_FIT }
    const problem = localized('http-body', { problem: json.problem })
    return { problem, reason: placed({ ...json, problem }) }
  }
  const read = readShape(notice, json.value)
  return 'problems' in read ? { problem: problemsText(read.problems) } : { notice: read.value }
}

/** The body of a call as text, for its partner to look at. */
export function readableBody(request: FastifyRequest): string {
  if (request.decryptedBody) return storable(request.decryptedBody)
  const { found } = (request.body ?? {}) as Partial<SentBody>
  if (found === undefined) return hasBody(request) ? placeholderFor('not-kept-signature-first') : ''
  if (!Buffer.isBuffer(found)) return placeholderFor(found === 'too-large' ? 'not-kept-large' : 'not-kept-incomplete')
  if (found.length > 0 && compressedText(request.headers)) return placeholderFor('not-kept-encoding')
  return storable(found)
}

/** Whether this text from `readableBody` is the whole body: it was read, and is text. */
export const isWholeBody = (body: string): boolean => !whyNotKept(body) && !body.includes('\ufffd')

// PostgreSQL cannot store a NUL.
const storable = (bytes: Buffer): string => bytes.toString('utf8').replaceAll('\0', '\ufffd')
