import type { QueryConfig } from 'pg'
import { sha256 } from '../lib/crypto/digest.ts'
import { storableJson } from '../lib/storable.ts'

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

/** Named by a hash: a pooler may hand a session to another process, where a name must mean the same statement. */
const nameOf = (text: string): string => `s_${sha256(text).toString('base64url', 0, 18)}`

/** Cache: a name follows from the text. */
const names = new Map<string, string>()

/** Rows that come with a statement. Of the same text their strings are one object. */
class Rows extends Fragment {}

interface RowTexts {
  readonly name: string
  readonly one: readonly string[]
  readonly several: readonly string[]
}

/** Cache: what rows of these columns look like, with the name that they last had in a statement. */
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
  /** From which the text follows, by their places. */
  readonly parts: readonly unknown[]
}

/** Cache: what a place has last become of which parts, if no fragment in it but rows holds values. */
const written = new WeakMap<readonly string[], readonly Written[]>()
/** Two fragments to choose from, each with one row and with several. */
const REMEMBERED_OF_PLACE = 4

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

const isMadeOf = ({ parts }: Written, given: readonly unknown[]): boolean =>
  given.every((value, place) => partOf(value) === parts[place])

/** The values of a statement whose text is known: its other fragments hold none. */
const valuesIn = (given: readonly unknown[]): unknown[] =>
  given.flatMap((value) => (value instanceof Rows ? value.values : value instanceof Fragment ? [] : [value]))

/** Each text becomes one statement, prepared once a connection. */
export function sql(strings: TemplateStringsArray, ...given: unknown[]): Statement {
  const ofPlace = written.get(strings) ?? []
  const known = ofPlace.find((one) => isMadeOf(one, given))
  if (known) return { name: known.name, text: known.text, values: valuesIn(given) }
  const values: unknown[] = []
  const text = write(strings, given, values)
  let name = names.get(text)
  if (name === undefined) {
    name = nameOf(text)
    names.set(text, name)
  }
  if (given.every((value) => value instanceof Rows || !holdsValues(value))) {
    written.set(strings, [{ text, name, parts: given.map(partOf) }, ...ofPlace].slice(0, REMEMBERED_OF_PLACE))
  }
  return { name, text, values }
}

/** What an array of PostgreSQL cannot have as JSON has it: escapes of control characters and of halves of a pair. */
const OTHER_ESCAPE = /\\[bfnrtu]/

/** As pg writes a value of an array, before it is quoted. What is no date is refused by PostgreSQL, for its item alone. */
function elementOf(value: unknown): unknown {
  if (typeof value === 'bigint' || typeof value === 'number') return String(value)
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? String(value) : value.toISOString()
  if (ArrayBuffer.isView(value)) {
    return `\\x${Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('hex')}`
  }
  return typeof value === 'object' && value !== null ? storableJson(value) : value
}

/** A list is JSON: no column of rows has an array's type. */
const aloneOf = (value: unknown): unknown => (Array.isArray(value) ? JSON.stringify(value) : value)

/** Written at once, where pg would make a dozen short texts of each value. */
function arrayOf(values: readonly unknown[]): unknown {
  const elements = values.map(elementOf)
  const json = JSON.stringify(elements)
  return OTHER_ESCAPE.test(json) ? elements : `{${json.slice(1, -1)}}`
}

/**
 * Items as rows of a statement, each with the columns and `ordinal`, its position counted from 1:
 * `` from ${sql.rows('asked', items, ({ id }) => sql.part`${id}::int as id`)} ``. One item is written as what it is, which
 * PostgreSQL plans and runs as if its values stood in the statement; several go out as arrays. That makes two statements,
 * however many items there are.
 */
sql.rows = <Item>(name: string, items: readonly Item[], columns: (item: Item) => Fragment): Fragment => {
  const rows = items.map((item) => columns(item))
  const first = rows[0]
  if (!first) throw new Error(`no rows ${name}`)
  const { one, several } = rowTextsOf(name, first.strings)
  if (rows.length === 1) return new Rows(one, first.values.map(aloneOf))
  return new Rows(
    several,
    first.values.map((_, place) => arrayOf(rows.map(({ values }) => values[place]))),
  )
}

/** A part that rooms share, such as the look-up of a row by its key. */
sql.part = (strings: TemplateStringsArray, ...given: unknown[]): Fragment => new Fragment(strings, given)

/** Parts with `between` between them: names of columns, their values, conditions. */
sql.join = (parts: readonly Fragment[], between = ', '): Fragment =>
  new Fragment(['', ...parts.map((_, place) => (place < parts.length - 1 ? between : ''))], parts)

/** The name of a table or column, quoted. */
sql.identifier = (name: string): Fragment => new Fragment([`"${name.replaceAll('"', '""')}"`])
