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

const names = new Map<string, string>()
/** Texts of statements without fragments, which are always the same. */
const texts = new WeakMap<readonly string[], string>()

function write(strings: readonly string[], given: readonly unknown[], values: unknown[]): string {
  let text = strings[0] ?? ''
  for (const [place, value] of given.entries()) {
    text += value instanceof Fragment ? write(value.strings, value.values, values) : `$${values.push(value)}`
    text += strings[place + 1]
  }
  return text
}

function textOf(strings: TemplateStringsArray, given: readonly unknown[], values: unknown[]): string {
  const known = texts.get(strings)
  if (known !== undefined) {
    values.push(...given)
    return known
  }
  const text = write(strings, given, values)
  if (!given.some((value) => value instanceof Fragment)) texts.set(strings, text)
  return text
}

/** Each text becomes one statement, prepared once a connection. */
export function sql(strings: TemplateStringsArray, ...given: unknown[]): Statement {
  const values: unknown[] = []
  const text = textOf(strings, given, values)
  let name = names.get(text)
  if (name === undefined) {
    name = nameOf(text)
    names.set(text, name)
  }
  return { name, text, values }
}

/** A part that rooms share, such as the look-up of a row by its key. */
sql.part = (strings: TemplateStringsArray, ...given: unknown[]): Fragment => new Fragment(strings, given)

/** The name of a table or column, quoted. */
sql.identifier = (name: string): Fragment => new Fragment([`"${name.replaceAll('"', '""')}"`])
