import { parse, stringify } from 'lossless-json'
import { z } from 'zod'
import { inspectJson } from './json-limits.ts'

/**
 * JSON that keeps 64-bit ids exact. One rule for numbers: an integer that JavaScript would round is a `bigint`, every
 * other number is a `number`. Integers beyond 20 characters are no ids, so they stay (rounded) numbers; a megabyte of
 * digits is never converted.
 */
function readNumber(text: string): number | bigint {
  const value = Number(text)
  return Number.isSafeInteger(value) || text.length > 20 || !/^-?\d+$/.test(text) ? value : BigInt(text)
}

const UTF8 = new TextDecoder('utf-8', { fatal: true })

/** Why a text cannot be read as JSON, and where, each from 1. */
interface JsonProblem {
  readonly problem: string
  readonly place?: Place
}

interface Place {
  readonly line: number
  readonly column: number
}

/** How lossless-json names the place. */
const POSITION = / at position (\d+)/g

function placeAt(text: string, at: number): Place {
  let line = 1
  let start = 0
  for (let end = text.indexOf('\n'); end >= 0 && end < at; end = text.indexOf('\n', start)) {
    line++
    start = end + 1
  }
  return { line, column: at - start + 1 }
}

/** Where the problem is: ` (line 2, column 14)`; empty where no place is known. */
export const placeText = ({ place }: JsonProblem): string =>
  place ? ` (line ${place.line}, column ${place.column})` : ''

/** The problem with its place in lines: `not JSON: … expected (line 2, column 14)`. */
export const placed = (found: JsonProblem): string => found.problem.replace(POSITION, '') + placeText(found)

/**
 * Reads a JSON text given as bytes; a byte order mark is skipped. The problem is one clause for the partner to read:
 * invalid UTF-8, nesting beyond 32 levels, more than `mostValues`, a name twice in one object, text that no database stores, or no JSON at all.
 */
export function parseLossless(bytes: Uint8Array, mostValues?: number): { value: unknown } | JsonProblem {
  let text: string
  try {
    text = UTF8.decode(bytes)
  } catch {
    return { problem: 'not valid UTF-8' }
  }
  if (text.trim() === '') return { problem: 'empty' }
  const objection = inspectJson(text, mostValues)
  if (objection) return { problem: objection.problem, place: placeAt(text, objection.at) }
  try {
    return { value: parse(text, null, readNumber) }
  } catch (error) {
    const { message } = error as SyntaxError
    const at = [...message.matchAll(POSITION)].at(-1)?.[1]
    const problem = `not JSON: ${message.slice(0, 200)}`
    return at === undefined ? { problem } : { problem, place: placeAt(text, Number(at)) }
  }
}

/** Writes JSON in which a `bigint` is a plain number; what is `undefined` is left out. */
export const stringifyLossless = (value: object): string => stringify(value) ?? ''

const INT64 = { min: -(2n ** 63n), max: 2n ** 63n - 1n }
const INT32 = { min: -(2n ** 31n), max: 2n ** 31n - 1n }

/** Whether `given` is the id after it was read as a double, which rounds more than 53 bits. */
export const isRounded = (given: unknown, exact: bigint): boolean =>
  String(given) !== String(exact) && Number(given) === Number(exact) && !Number.isSafeInteger(Number(exact))

/** Undefined for what is no integer, and for a number that has been rounded already. */
function exactInteger(value: number | bigint | string): bigint | undefined {
  if (typeof value === 'bigint') return value
  if (typeof value === 'string') return /^-?\d{1,20}$/.test(value) ? BigInt(value) : undefined
  return Number.isSafeInteger(value) ? BigInt(value) : undefined
}

// The metadata `wire` of a schema describes the JSON value; the field reference of the sandbox uses it.

/** A schema for an integer from `min` to `max`, as number or numeric text, which leaves as what `convert` makes of it. */
const integer = <Out>(min: bigint, max: bigint, problem: string, convert: (integer: bigint) => Out) =>
  z
    .union([z.number(), z.bigint(), z.string()], {
      error: ({ input }) => (input === undefined ? 'is required' : problem),
    })
    .transform((value, context): Out => {
      const exact = exactInteger(value)
      if (exact !== undefined && exact >= min && exact <= max) return convert(exact)
      context.addIssue(problem)
      return z.NEVER
    })

/** An id of 64 bits, as number or numeric text; a `bigint` afterwards. */
export const int64 = () =>
  integer(INT64.min, INT64.max, 'must be a 64-bit integer, as number or text', (exact) => exact).meta({ wire: 'int64' })

/** A count, code or state of 32 bits, as number or numeric text; a `number` afterwards. */
export const smallInt = () =>
  integer(INT32.min, INT32.max, 'must be a 32-bit integer, as number or text', Number).meta({ wire: 'int' })

/** Digits as number or text (a PartnerId); text without leading zeros afterwards, so `7001` and `"7001"` are equal. */
export const numericText = () =>
  integer(0n, INT64.max, 'must be digits, as number or text', String).meta({ wire: 'digits' })

/** A value with its 64-bit ids (`bigint`) as exact numbers, on indented lines. */
export const prettyLossless = (value: unknown): string => stringify(value, null, 2) ?? ''

/**
 * JSON on indented lines, its numbers exactly as they were written (`1.10`, ids beyond 2^53); undefined for what is no
 * JSON, has a name twice, or is nested too deeply.
 */
export function prettyJson(text: string): string | undefined {
  if (inspectJson(text) !== undefined) return undefined
  try {
    return stringify(parse(text), null, 2)
  } catch {
    return undefined
  }
}

/** A JSON object with one field set and first; its other numbers exactly as they were written. Throws for what is no JSON. */
export const withField = (text: string, name: string, value: bigint): string =>
  stringify({ [name]: value, ...omit(parse(text), name) }, null, 2) ?? ''

const omit = (object: unknown, name: string): object =>
  Object.fromEntries(Object.entries(object ?? {}).filter(([field]) => field !== name))
