import type { FastifyRequest } from 'fastify'
import { type LocalizedText, localized } from '../localized-text.ts'
import { NOT_UTF8, placeAt, placed, readUtf8 } from '../utf8.ts'
import { invalidRequest, type RescodeError } from './rescode.ts'

/** Many Java programs name the charset as the coding, which leaves the body as it is. */
const NO_CODING = /^(?:|identity|utf-?8)$/i

/** The problem with a compressed body, since no content coding is supported; undefined for an uncompressed one. */
export function compressedText({
  'content-encoding': header = '',
}: {
  readonly 'content-encoding'?: string | undefined
}): LocalizedText | undefined {
  if (header === '') return undefined
  const codings = header.split(',').map((coding) => coding.replaceAll(/[^\w.+-]/g, ''))
  const named = codings.filter((coding) => !NO_CODING.test(coding)).join(', ')
  return named === '' ? undefined : localized('is-compressed', { coding: named.slice(0, 64) })
}

const unsupported = (what: LocalizedText, headers = {}): RescodeError => invalidRequest(what, { status: 415, headers })

const CHARSET = /;\s*charset\s*=\s*"?([^";\s]*)"?/i

/** The charset that a Content-Type names; undefined if none, or UTF-8. */
export function otherCharset(type = ''): string | undefined {
  const charset = CHARSET.exec(type)?.[1]
  return charset === undefined || /^utf-?8$/i.test(charset) ? undefined : charset
}

const ASCII = /^[\0-\x7f]*$/
/** A percent-encoded byte outside ASCII. */
const ENCODED = /%[89a-f]/i

/** Whether a form means the same in every charset, such as those of old Java clients that declare ISO-8859-1. */
const isAsciiForm = (text: string): boolean => ASCII.test(text) && !ENCODED.test(text)

const INVALID = '\ufffd'

/** Throws 415 for a content coding, and for a charset other than UTF-8 unless `isSame`: the charset makes no difference. */
function refuseOtherCoding({ headers }: FastifyRequest, isSame = false): void {
  const compressed = compressedText(headers)
  if (compressed) throw unsupported(localized('body-is', { problem: compressed }), { 'Accept-Encoding': 'identity' })
  if (!isSame && otherCharset(headers['content-type'])) throw unsupported(localized('charset-not-utf8'))
}

/** The text of a JSON body outside area B. Throws 20007 if it is not UTF-8, 415 for an unsupported coding or charset. */
export function bodyText(request: FastifyRequest, bytes: Buffer): string {
  if (bytes.length === 0) return ''
  refuseOtherCoding(request)
  const read = readUtf8(bytes)
  if ('problem' in read) throw invalidRequest(localized('body-is', { problem: placed(read) }))
  return read.text
}

/** Checks a form whose bytes have already been decoded as UTF-8, with U+FFFD for invalid ones. */
export function formText(request: FastifyRequest, text: string): string {
  refuseOtherCoding(request, isAsciiForm(text))
  const at = text.indexOf(INVALID)
  if (at >= 0)
    throw invalidRequest(localized('body-is', { problem: placed({ problem: NOT_UTF8, place: placeAt(text, at) }) }))
  return text
}
