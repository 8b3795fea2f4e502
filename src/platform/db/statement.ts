import type { QueryConfig } from 'pg'
import { sha256 } from '../lib/crypto/digest.ts'
import { storableJson } from '../lib/storable.ts'

/** A statement and its values; made only by `` sql`…` ``, so a value can never become part of the text. */
export type Statement = QueryConfig

/** A part of a statement, interpolated like a value: `` sql`select … from ${table}` ``. */
export class Fragment {
  readonly strings: readonly string[]
  readonly values: readonly unknown[]

  constructor(strings: readonly string[], values: readonly unknown[] = []) {
    this.strings = strings
    this.values = values
  }
}

/** A hash, since a pooler may hand a session to another process, where a name must mean the same statement. */
const nameOf = (text: string): string => `s_${sha256(text).toString('base64url', 0, 18)}`

/** Cache: a name follows from the text. */
const names = new Map<string, string>()

/** Rows that are sent with a statement. Rows with the same text share one `strings` object. */
class Rows extends Fragment {}

interface RowTexts {
  readonly name: string
  readonly one: readonly string[]
  readonly several: readonly string[]
}

/** Cache: the texts for rows with these columns, under the name last used. */
const rowTexts = new WeakMap<readonly string[], RowTexts>()

const COLUMN = /^::(\w+) as (\w+)/

function rowTextsOf(name: string, columns: readonly string[]): RowTexts {
  const known = rowTexts.get(columns)
  if (known?.name === name) return known
  const [begin, ...each] = columns
  const types = each.map((text) => COLUMN.exec(text)?.[1])
  const names = each.map((text) => COLUMN.exec(text)?.[2])
  const texts = {
    name,
    one: [`(select ${begin}`, ...each.slice(0, -1), `${each.at(-1)}, 1::bigint as ordinal) as ${name}`],
    several: [
      'unnest(',
      ...types.slice(0, -1).map((type) => `::${type}[], `),
      `::${types.at(-1)}[]) with ordinality as ${name} (${names.join(', ')}, ordinal)`,
    ],
  }
  rowTexts.set(columns, texts)
  return texts
}

interface Written {
  readonly text: string
  readonly name: string
  /** What determines the text, by position. */
  readonly parts: readonly unknown[]
}

/** Cache: the latest texts of each call site and the parts they were built from, if no fragment but rows holds values. */
const written = new WeakMap<readonly string[], readonly Written[]>()
/** Enough for a choice of two fragments, each with one row and with several. */
const CACHED_PER_CALL_SITE = 4

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

const partOf = (value: unknown): unknown =>
  value instanceof Rows ? value.strings : value instanceof Fragment ? value : undefined

const hasParts = ({ parts }: Written, given: readonly unknown[]): boolean =>
  given.every((value, place) => partOf(value) === parts[place])

/** The values of a statement whose text is cached: only its rows and plain values have some. */
const valuesIn = (given: readonly unknown[]): unknown[] =>
  given.flatMap((value) => (value instanceof Rows ? value.values : value instanceof Fragment ? [] : [value]))

/** Each distinct text is one statement, prepared once per connection. */
export function sql(strings: TemplateStringsArray, ...given: unknown[]): Statement {
  const cached = written.get(strings) ?? []
  const known = cached.find((entry) => hasParts(entry, given))
  if (known) return { name: known.name, text: known.text, values: valuesIn(given) }
  const values: unknown[] = []
  const text = write(strings, given, values)
  let name = names.get(text)
  if (name === undefined) {
    name = nameOf(text)
    names.set(text, name)
  }
  if (given.every((value) => value instanceof Rows || !holdsValues(value))) {
    written.set(strings, [{ text, name, parts: given.map(partOf) }, ...cached].slice(0, CACHED_PER_CALL_SITE))
  }
  return { name, text, values }
}

/** JSON escapes that mean something else in a PostgreSQL array: control characters and lone surrogates. */
const JSON_ONLY_ESCAPE = /\\[bfnrtu]/

/** Cache: the last date. Many rows of a batch are of the same moment, and its text takes as long as an HMAC. */
let last = { at: Number.NaN, text: '' }

/** An invalid date becomes a text that PostgreSQL refuses. */
function textOf(date: Date): string {
  const at = date.getTime()
  if (at !== last.at) last = { at, text: Number.isNaN(at) ? String(date) : date.toISOString() }
  return last.text
}

/** A value as pg writes it in an array, before quoting. */
function elementOf(value: unknown): unknown {
  if (typeof value === 'bigint' || typeof value === 'number') return String(value)
  if (value instanceof Date) return textOf(value)
  if (ArrayBuffer.isView(value)) {
    return `\\x${Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('hex')}`
  }
  return typeof value === 'object' && value !== null ? storableJson(value) : value
}

/** A list becomes JSON: no column of rows has an array type. */
function singleValueOf(value: unknown): unknown {
  if (value instanceof Date) return textOf(value)
  return Array.isArray(value) ? JSON.stringify(value) : value
}

/** Faster than pg, which builds a dozen short strings for each value. */
function arrayOf(values: readonly unknown[]): unknown {
  const elements = values.map(elementOf)
  const json = JSON.stringify(elements)
  return JSON_ONLY_ESCAPE.test(json) ? elements : `{${json.slice(1, -1)}}`
}

/**
 * Items as rows of a statement, each with these columns and `ordinal`, its position counted from 1: `` from
 * ${sql.rows('asked', items, ({ id }) => sql.part`${id}::int as id`)} ``. A single item is sent as plain values, which
 * PostgreSQL plans as if they stood in the statement, several as arrays: two statements, however many items there are.
 */
sql.rows = <Item>(name: string, items: readonly Item[], columns: (item: Item) => Fragment): Fragment => {
  const rows = items.map((item) => columns(item))
  const first = rows[0]
  if (!first) throw new Error(`no rows ${name}`)
  const { one, several } = rowTextsOf(name, first.strings)
  if (rows.length === 1) return new Rows(one, first.values.map(singleValueOf))
  return new Rows(
    several,
    first.values.map((_, place) => arrayOf(rows.map(({ values }) => values[place]))),
  )
}

/** A part that rooms share, such as the look-up of a row by its key. */
sql.part = (strings: TemplateStringsArray, ...given: unknown[]): Fragment => new Fragment(strings, given)

/** Parts with a separator: names of columns, their values, conditions. */
sql.join = (parts: readonly Fragment[], between = ', '): Fragment =>
  new Fragment(['', ...parts.map((_, place) => (place < parts.length - 1 ? between : ''))], parts)

sql.identifier = (name: string): Fragment => new Fragment([`"${name.replaceAll('"', '""')}"`])

/**
 * The condition by which a join, an update or a delete finds its rows: `` delete from t using due where
 * ${sql.sameKey('t', 'due', ['id'])} ``. `first`: the columns with which an index begins. With a plain `=` on one of
 * those, PostgreSQL may compare each row of the table with each key while it believes the table empty, as after a
 * purge. With `any (array […])` it looks each key up in the index: such a condition makes no order of the index useful.
 * The others have a plain `=`, since PostgreSQL 16 and older may leave `any` out of the look-up, and read all rows with
 * the same first column.
 */
sql.sameKey = (table: string, keys: string, columns: readonly string[], first = columns.slice(0, 1)): Fragment => {
  const [target, other] = [sql.identifier(table), sql.identifier(keys)]
  const conditions = columns.map((column) => {
    const name = sql.identifier(column)
    const key = sql.part`${other}.${name}`
    return sql.part`${target}.${name} = ${first.includes(column) ? sql.part`any (array[${key}])` : key}`
  })
  return sql.join(conditions, ' and ')
}
