import type { QueryConfig } from 'pg'
import { sha256 } from '../lib/crypto/digest.ts'

/** A statement and its values; made only by `` sql`…` ``, so a value can never become part of the text. */
export type Statement = QueryConfig

/** A part of a statement, put into it like a value: `` sql`select … from ${table}` ``. */
export class Fragment {
  readonly strings: readonly string[]
  readonly values: readonly unknown[]

  constructor(strings: readonly string[], values: readonly unknown[] = []) {
    this.strings = strings
    this.values = values
  }
}

/**
 * A prepared statement is named by a hash of its text: a pooler may hand a session of PostgreSQL from one process to
 * another, where the same name must mean the same statement.
 */
const nameOf = (text: string): string => `s_${sha256(text).toString('base64url', 0, 18)}`

/** Cache: a name follows from the text. */
const names = new Map<string, string>()

interface Written {
  readonly text: string
  readonly name: string
  /** The fragments that it was made of, by their places. */
  readonly fragments: readonly unknown[]
}

/** Cache: what a place in the code has last become, if no fragment in it holds values: it becomes the same of the same fragments. */
const written = new WeakMap<readonly string[], Written>()

function write(strings: readonly string[], given: readonly unknown[], values: unknown[]): string {
  let text = strings[0] ?? ''
  for (const [place, value] of given.entries()) {
    text += value instanceof Fragment ? write(value.strings, value.values, values) : `$${values.push(value)}`
    text += strings[place + 1]
  }
  return text
}

const holdsValues = (value: unknown): boolean =>
  value instanceof Fragment && value.values.some((inner) => !(inner instanceof Fragment) || holdsValues(inner))

const isMadeOf = ({ fragments }: Written, given: readonly unknown[]): boolean =>
  given.every((value, place) => (value instanceof Fragment ? value : undefined) === fragments[place])

/** Each text becomes one statement, prepared once a connection. */
export function sql(strings: TemplateStringsArray, ...given: unknown[]): Statement {
  const known = written.get(strings)
  if (known && isMadeOf(known, given)) {
    return { name: known.name, text: known.text, values: given.filter((value) => !(value instanceof Fragment)) }
  }
  const values: unknown[] = []
  const text = write(strings, given, values)
  let name = names.get(text)
  if (name === undefined) {
    name = nameOf(text)
    names.set(text, name)
  }
  if (!given.some(holdsValues)) {
    const fragments = given.map((value) => (value instanceof Fragment ? value : undefined))
    written.set(strings, { text, name, fragments })
  }
  return { name, text, values }
}

/** A part that rooms share, such as the look-up of a row by its key. */
sql.part = (strings: TemplateStringsArray, ...given: unknown[]): Fragment => new Fragment(strings, given)

/** The name of a table or column, quoted. */
sql.identifier = (name: string): Fragment => new Fragment([`"${name.replaceAll('"', '""')}"`])
