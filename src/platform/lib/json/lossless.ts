import { parse, stringify } from 'lossless-json'
import { type LocalizedText, localized, withValues } from '../localized-text.ts'
import { readOr } from '../read-or.ts'
import { cutTo, isStorable } from '../storable.ts'
import { placeAt, placed as placedText, readUtf8, type TextProblem } from '../utf8.ts'
import { echo } from '../web/rescode.ts'

/**
 * JSON that keeps 64-bit ids exact: an integer that JavaScript would round is a `bigint`, every other number a `number`.
 * Integers beyond 20 characters are no ids and stay rounded; a megabyte of digits is never converted.
 */
function readNumber(text: string): number | bigint {
  const value = Number(text)
  return Number.isSafeInteger(value) || text.length > 20 || !/^-?\d+$/.test(text) ? value : BigInt(text)
}

/** Integers that `readNumber` may read differently from JSON.parse. False matches inside strings only cost time. */
const LONG_INTEGER = /(?:^|[:,[\s])-?\d{16}/

const readExactly = (text: string): unknown => parse(text, null, readNumber)

/** `readExactly` takes five times as long as JSON.parse, but has better messages. */
function readValue(text: string): unknown {
  if (LONG_INTEGER.test(text)) return readExactly(text)
  try {
    return JSON.parse(text)
  } catch {
    return readExactly(text)
  }
}

const MAX_DEPTH = 32
/** A mebibyte may hold 350,000 empty objects, a quarter of a second to read; a full calendar has some 60,000 values. */
const MAX_VALUES = 100_000

/** Problems quote at most 128 characters. */
const MAX_MESSAGE = 118
const MAX_NAME = 77

/** The index after the closing quote of the string that opens at `start`; undefined if it never closes. */
function endOfText(json: string, start: number): number | undefined {
  for (let at = start + 1; at < json.length; at++) {
    if (json[at] === '\\') at++
    else if (json[at] === '"') return at + 1
  }
  return undefined
}

/** Null for a broken escape, which the parser reports better. */
const decodeText = (quoted: string): string | null =>
  quoted.includes('\\') ? readOr((): string => JSON.parse(quoted), null) : quoted.slice(1, -1)

const WHITESPACE = ' \t\r\n'

function isName(json: string, end: number): boolean {
  let at = end
  while (at < json.length && WHITESPACE.includes(json[at] ?? '')) at++
  return json[at] === ':'
}

function textProblem(text: string, names: Set<string> | null): LocalizedText | undefined {
  if (!isStorable(text)) return localized('bad-characters')
  if (names?.has(text)) return localized('name-twice', { name: cutTo(echo(JSON.stringify(cutTo(text, 64))), MAX_NAME) })
  names?.add(text)
  return undefined
}

/**
 * Scans a JSON text, without recursion, for what must not reach a recursive parser (deep nesting, too many values) or a
 * database (U+0000, lone surrogates: PostgreSQL's jsonb refuses both), and for duplicate names, which lossless-json
 * accepts if their values are equal. The problem and the index of its character; undefined if there is none: the text may
 * still not be JSON.
 */
function inspectJson(json: string, most = MAX_VALUES): { problem: LocalizedText; at: number } | undefined {
  // The usual case: strings end at the next quote and need no checks.
  const isPlain = !json.includes('\\') && isStorable(json)
  /** The names seen so far in each open object; null for an array. */
  const open: (Set<string> | null)[] = []
  let values = 1
  for (let at = 0; at < json.length; at++) {
    const character = json[at]
    if (character === '{' || character === '[') {
      open.push(character === '{' ? new Set() : null)
      if (open.length > MAX_DEPTH) return { problem: localized('nested-deep', { most: MAX_DEPTH }), at }
      if (++values > most) return { problem: localized('many-values', { most }), at }
    } else if (character === ',') {
      if (++values > most) return { problem: localized('many-values', { most }), at }
    } else if (character === '}' || character === ']') {
      open.pop()
    } else if (character === '"') {
      const end = isPlain ? json.indexOf('"', at + 1) + 1 : endOfText(json, at)
      if (!end) return undefined
      const names = isName(json, end) ? (open.at(-1) ?? null) : null
      if (names || !isPlain) {
        const text = isPlain ? json.slice(at + 1, end - 1) : decodeText(json.slice(at, end))
        const problem = text === null ? undefined : textProblem(text, names)
        if (problem !== undefined) return { problem, at }
      }
      at = end - 1
    }
  }
  return undefined
}

const POSITION = / at position (\d+)/g

/** The problem with its place in lines instead of a position: `not JSON: … expected (line 2, column 14)`. */
export const placed = ({ problem, place }: TextProblem): LocalizedText =>
  placedText({
    problem: withValues(problem, (value, name) => (name === 'message' ? value.replace(POSITION, '') : value)),
    ...(place && { place }),
  })

/** Parses JSON given as bytes; a byte order mark is skipped. The problem is a clause for the partner. */
export function parseLossless(bytes: Uint8Array, mostValues?: number): { value: unknown } | TextProblem {
  const read = readUtf8(bytes)
  if ('problem' in read) return read
  const { text } = read
  if (text.trim() === '') return { problem: localized('is-empty') }
  const objection = inspectJson(text, mostValues)
  if (objection) return { problem: objection.problem, place: placeAt(text, objection.at) }
  try {
    return { value: readValue(text) }
  } catch (error) {
    const { message } = error as SyntaxError
    const at = [...message.matchAll(POSITION)].at(-1)?.[1]
    const problem = localized('not-json', { message: cutTo(echo(message), MAX_MESSAGE) })
    return at === undefined ? { problem } : { problem, place: placeAt(text, Number(at)) }
  }
}

/** Whether `given` is the id `exact` after being read as a double, which rounds beyond 53 bits. */
export const isRounded = (given: unknown, exact: bigint): boolean =>
  String(given) !== String(exact) && Number(given) === Number(exact) && !Number.isSafeInteger(Number(exact))

/** A stored text parsed by `parseLossless`; undefined if there is none or it is not JSON. */
export function jsonIn(text: string | null | undefined): unknown {
  const read = parseLossless(Buffer.from(text ?? ''))
  return 'value' in read ? read.value : undefined
}

/** Writes a `bigint` as a plain number. */
export const stringifyLossless = (value: object): string => stringify(value) ?? ''

/** The same, indented. */
export const prettyLossless = (value: unknown): string => stringify(value, null, 2) ?? ''

/** The text indented, numbers as written (`1.10`, ids beyond 2^53); undefined if it is not JSON, or objectionable. */
export function prettyJson(text: string): string | undefined {
  if (inspectJson(text) !== undefined) return undefined
  return readOr(() => stringify(parse(text), null, 2), undefined)
}

/** A JSON object with one field set and put first, and its other numbers as written. Throws if it is not JSON. */
export const withField = (text: string, name: string, value: bigint): string =>
  stringify({ [name]: value, ...omit(parse(text), name) }, null, 2) ?? ''

const omit = (object: unknown, name: string): object =>
  Object.fromEntries(Object.entries(object ?? {}).filter(([field]) => field !== name))
