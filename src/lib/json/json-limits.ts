const MAX_DEPTH = 32
/**
 * A mebibyte holds 350,000 empty objects, which take a quarter of a second to read. Real values have names and digits:
 * a full calendar of a mebibyte has some 60,000.
 */
const MOST_VALUES = 100_000

/** What must not be read further, and at which character it is, from 0. */
export interface JsonObjection {
  readonly problem: string
  readonly at: number
}

/** Names seen so far in an object that is still open; null for an array. */
type Open = Set<string> | null

const STORABLE = /^[^\0\p{Surrogate}]*$/u
const COLON = /[ \t\r\n]*:/y

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

const isName = (json: string, end: number): boolean => {
  COLON.lastIndex = end
  return COLON.test(json)
}

function textProblem(text: string, names: Set<string> | null): string | undefined {
  if (!STORABLE.test(text)) return 'a text contains U+0000 or half of a surrogate pair'
  if (names?.has(text)) return `the name ${JSON.stringify(text.slice(0, 64))} appears twice in one object`
  names?.add(text)
  return undefined
}

/**
 * Looks through a JSON text, without recursion, for what must not reach a recursive parser (deep nesting, too many
 * values) or a database (U+0000, lone surrogates: PostgreSQL's jsonb refuses both), and for names that appear twice,
 * which lossless-json lets pass when their values are equal. Undefined if there is nothing to object to; the text may
 * still not be JSON.
 */
export function inspectJson(json: string, most = MOST_VALUES): JsonObjection | undefined {
  const open: Open[] = []
  let values = 1
  for (let at = 0; at < json.length; at++) {
    const character = json[at]
    if (character === '{' || character === '[') {
      open.push(character === '{' ? new Set() : null)
      if (open.length > MAX_DEPTH) return { problem: `nested deeper than ${MAX_DEPTH} levels`, at }
      if (++values > most) return { problem: `more than ${most} values`, at }
    } else if (character === ',') {
      if (++values > most) return { problem: `more than ${most} values`, at }
    } else if (character === '}' || character === ']') {
      open.pop()
    } else if (character === '"') {
      const end = endOfText(json, at)
      if (end === undefined) return undefined
      const text = decodeText(json.slice(at, end))
      const problem = text === null ? undefined : textProblem(text, isName(json, end) ? (open.at(-1) ?? null) : null)
      if (problem !== undefined) return { problem, at }
      at = end - 1
    }
  }
  return undefined
}
