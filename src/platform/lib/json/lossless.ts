import { parse, stringify } from 'lossless-json'
import { type LocalizedText, localized, withValues } from '../localized-text.ts'
import { readOr } from '../read-or.ts'
import { cutTo, isStorable } from '../storable.ts'
import { placeAt, placed as placedText, readUtf8, type TextProblem } from '../utf8.ts'
import { echo } from '../web/rescode.ts'

/**
 * JSON that keeps 64-bit ids exact. One rule for numbers: an integer that JavaScript would round is a `bigint`, every
 * other number is a `number`. Integers beyond 20 characters are no ids, so they stay (rounded) numbers; a megabyte of
 * digits is never converted.
 */
function readNumber(text: string): number | bigint {
  const value = Number(text)
  return Number.isSafeInteger(value) || text.length > 20 || !/^-?\d+$/.test(text) ? value : BigInt(text)
}

/**
 * Where an integer of 16 digits or more begins, all that `readNumber` may read differently than JSON.parse. It also finds
 * some texts that are none, and those are read more slowly for it.
 */
const LONG_INTEGER = /(?:^|[:,[\s])-?\d{16}/

const readExactly = (text: string): unknown => parse(text, null, readNumber)

/** `readExactly` takes five times as long as JSON.parse, and explains what that refuses. */
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

/** What must not be read further, and at which character it is, from 0. */
interface JsonObjection {
  readonly problem: LocalizedText
  readonly at: number
}

/** Names seen so far in an object that is still open; null for an array. */
type Open = Set<string> | null

/** Problems quote 128 characters at most. */
const LONGEST_MESSAGE = 118
const LONGEST_NAME = 91

/** Where the text that opens at `start` ends, its closing quote included; undefined when it never does. */
function endOfText(json: string, start: number): number | undefined {
  for (let at = start + 1; at < json.length; at++) {
    if (json[at] === '\\') at++
    else if (json[at] === '"') return at + 1
  }
  return undefined
}

/** Null for a broken escape, which the parser then reports better. */
function decodeText(quoted: string): string | null {
  if (!quoted.includes('\\')) return quoted.slice(1, -1)
  try {
    return JSON.parse(quoted) as string
  } catch {
    return null
  }
}

const BETWEEN = ' \t\r\n'

function isName(json: string, end: number): boolean {
  let at = end
  while (at < json.length && BETWEEN.includes(json[at] ?? '')) at++
  return json[at] === ':'
}

function textProblem(text: string, names: Set<string> | null): LocalizedText | undefined {
  if (!isStorable(text)) return localized('bad-characters')
  if (names?.has(text))
    return localized('name-twice', { name: cutTo(echo(JSON.stringify(cutTo(text, 64))), LONGEST_NAME) })
  names?.add(text)
  return undefined
}

/**
 * Looks through a JSON text, without recursion, for what must not reach a recursive parser (deep nesting, too many
 * values) or a database (U+0000, lone surrogates: PostgreSQL's jsonb refuses both), and for names that appear twice,
 * which lossless-json lets pass when their values are equal. Undefined if there is nothing to object to; the text may
 * still not be JSON.
 */
function inspectJson(json: string, most = MAX_VALUES): JsonObjection | undefined {
  // Mostly: strings end at the next quote then, and hold nothing that must be refused.
  const isPlain = !json.includes('\\') && isStorable(json)
  const open: Open[] = []
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

/** How lossless-json names the place. */
const POSITION = / at position (\d+)/g

/** The problem with its place in lines, which says it better: `not JSON: … expected (line 2, column 14)`. */
export const placed = ({ problem, place }: TextProblem): LocalizedText =>
  placedText({
    problem: withValues(problem, (value, name) => (name === 'message' ? value.replace(POSITION, '') : value)),
    ...(place && { place }),
  })

/**
 * Reads a JSON text given as bytes; a byte order mark is skipped. The problem is one clause for the partner to read:
 * invalid UTF-8, nesting beyond 32 levels, more than `mostValues`, a name twice in one object, text that no database stores, or no JSON at all.
 */
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
    const problem = localized('not-json', { message: cutTo(echo(message), LONGEST_MESSAGE) })
    return at === undefined ? { problem } : { problem, place: placeAt(text, Number(at)) }
  }
}

/** What a text that was kept says in JSON, as `parseLossless` reads it; undefined for one that is none, and for none. */
export function jsonIn(text: string | null | undefined): unknown {
  const read = parseLossless(Buffer.from(text ?? ''))
  return 'value' in read ? read.value : undefined
}

/** Writes JSON in which a `bigint` is a plain number; what is `undefined` is left out. */
export const stringifyLossless = (value: object): string => stringify(value) ?? ''

/** Whether `given` is the id after it was read as a double, which rounds more than 53 bits. */
export const isRounded = (given: unknown, exact: bigint): boolean =>
  String(given) !== String(exact) && Number(given) === Number(exact) && !Number.isSafeInteger(Number(exact))

/** A value with its 64-bit ids (`bigint`) as exact numbers, on indented lines. */
export const prettyLossless = (value: unknown): string => stringify(value, null, 2) ?? ''

/** Indented, numbers as written (`1.10`, ids beyond 2^53); undefined for no JSON, repeated names, deep nesting. */
export function prettyJson(text: string): string | undefined {
  if (inspectJson(text) !== undefined) return undefined
  return readOr(() => stringify(parse(text), null, 2), undefined)
}

/** A JSON object with one field set and first; its other numbers exactly as they were written. Throws for what is no JSON. */
export const withField = (text: string, name: string, value: bigint): string =>
  stringify({ [name]: value, ...omit(parse(text), name) }, null, 2) ?? ''

const omit = (object: unknown, name: string): object =>
  Object.fromEntries(Object.entries(object ?? {}).filter(([field]) => field !== name))
