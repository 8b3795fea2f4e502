import { isUtf8 } from 'node:buffer'
import { type LocalizedText, localized } from './localized-text.ts'

/**
 * Text from outside must be UTF-8 (a byte order mark is skipped). Decoding with U+FFFD would make different texts equal
 * and lose the original, so invalid bytes are refused, with their place.
 */

/** From 1; columns count UTF-16 units, as editors do. */
export interface Place {
  readonly line: number
  readonly column: number
}

/** Why a text cannot be read, as a clause, and where, if known. */
export interface TextProblem {
  readonly problem: LocalizedText
  readonly place?: Place
}

const START: Place = { line: 1, column: 1 }
const MARK = '\ufeff'

/** The place of the character at index `at` in a text that begins at `from`; a byte order mark has no column. */
export function placeAt(text: string, at: number, from: Place = START): Place {
  let { line } = from
  let start = from.column === 1 && line === 1 && text.startsWith(MARK) ? 1 : 0
  let column = from.column
  for (let end = text.indexOf('\n'); end >= 0 && end < at; end = text.indexOf('\n', start)) {
    line++
    start = end + 1
    column = 1
  }
  return { line, column: at - start + column }
}

/** The problem with its place, if known. */
export const placed = ({ problem, place }: TextProblem): LocalizedText =>
  place ? localized('at-line', { problem, line: place.line, column: place.column }) : problem

const UTF8 = new TextDecoder('utf-8', { fatal: true })
export const NOT_UTF8 = localized('not-utf8')
const UTF16: TextProblem = { problem: localized('is-utf16') }

/** Detected by its byte order mark, or by NUL as one of the first two bytes, which no JSON, form or CSV has. */
function isUtf16(bytes: Uint8Array): boolean {
  if (bytes.length < 2) return false
  const [first, second] = [bytes[0], bytes[1]]
  return (first === 0) !== (second === 0) || (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)
}

/** Decodes bytes, or says why they are not text. */
export function readUtf8(bytes: Uint8Array): { readonly text: string } | TextProblem {
  if (isUtf16(bytes)) return UTF16
  try {
    return { text: UTF8.decode(bytes) }
  } catch {
    return { problem: NOT_UTF8, place: badPlace(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)) }
  }
}

const REPLACEMENT = '\ufffd'
const REPLACEMENT_BYTES = Buffer.from(REPLACEMENT)

/** The place of the first invalid bytes; a genuine U+FFFD is valid. */
function badPlace(bytes: Buffer, from: Place = START): Place {
  const lossy = bytes.toString()
  let [offset, counted] = [0, 0]
  for (let at = lossy.indexOf(REPLACEMENT); at >= 0; at = lossy.indexOf(REPLACEMENT, at + 1)) {
    offset += Buffer.byteLength(lossy.slice(counted, at))
    counted = at
    if (bytes.subarray(offset, offset + REPLACEMENT_BYTES.length).equals(REPLACEMENT_BYTES)) continue
    return placeAt(lossy, at, from)
  }
  return from
}

export class NotUtf8 extends Error {
  override readonly name = 'NotUtf8'
  readonly problem: LocalizedText

  constructor(problem: TextProblem) {
    const withPlace = placed(problem)
    super(String(withPlace))
    this.problem = withPlace
  }
}

/** The number of bytes at the end that begin an incomplete character. */
function unfinished(bytes: Buffer): number {
  for (let back = 1; back <= 3 && back <= bytes.length; back++) {
    const byte = bytes[bytes.length - back] ?? 0
    if (byte < 0x80) return 0
    if (byte >= 0xc0) return (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) > back ? back : 0
  }
  return 0
}

/** Passes on the bytes in whole characters; throws NotUtf8 before the first chunk that is not UTF-8. */
export async function* checkedUtf8(chunks: AsyncIterable<Buffer> | Iterable<Buffer>): AsyncGenerator<Buffer> {
  let rest: Buffer = Buffer.alloc(0)
  let place = START
  let began = false
  for await (const chunk of chunks) {
    rest = Buffer.concat([rest, chunk])
    if (!began && rest.length < 2) continue
    if (!began && isUtf16(rest)) throw new NotUtf8(UTF16)
    began = true
    const whole = rest.subarray(0, rest.length - unfinished(rest))
    if (!isUtf8(whole)) throw new NotUtf8({ problem: NOT_UTF8, place: badPlace(whole, place) })
    const text = whole.toString()
    place = placeAt(text, text.length, place)
    rest = rest.subarray(whole.length)
    if (whole.length > 0) yield whole
  }
  if (!isUtf8(rest)) throw new NotUtf8({ problem: NOT_UTF8, place })
  if (rest.length > 0) yield rest
}
