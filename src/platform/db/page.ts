import { z } from 'zod'
import { addSeconds, DAY_S, fromEpochMilliseconds } from '../lib/clock.ts'
import { issue, problem } from '../lib/json/field-problem.ts'
import { jsonOf } from '../lib/read-or.ts'
import { columnsOf } from './record-fields.ts'
import { ofAllShards } from './shards.ts'
import type { Db } from './sql.ts'
import { type Fragment, sql } from './statement.ts'

/**
 * Keyset pagination, used by all lists. `next` is the `after` of the following page, null on the last one. A page is
 * one index range scan, so the millionth row costs what the first does; rows added or deleted meanwhile neither repeat
 * nor hide others.
 */
export interface Page<Row> {
  readonly rows: Row[]
  readonly next: string | null
}

const DEFAULT_ROWS = 100
const MAX_ROWS = 1_000

const holdsNul = (keys: unknown): boolean =>
  Array.isArray(keys) && keys.some((key) => typeof key === 'string' && key.includes('\0'))

/** The sort keys of a page's last row, as a JSON list in base64url. */
const cursor = <Keys extends z.ZodType>(keys: Keys) =>
  z
    .string()
    .max(1_024)
    .transform((text, context) => {
      const parsed = keys.safeParse(jsonOf(Buffer.from(text, 'base64url').toString()))
      if (parsed.success && !holdsNul(parsed.data)) return parsed.data
      context.addIssue(issue('must-be-next-of-list'))
      return z.NEVER
    })

/** Fields of a list's input. `keys`: the schema of the sort keys that cursorOf writes. */
export const pageInput = <Keys extends z.ZodType>(keys: Keys, { usual = DEFAULT_ROWS, most = MAX_ROWS } = {}) => ({
  limit: z.coerce.number().int().min(1).max(most).default(usual),
  after: cursor(keys).optional(),
})

/** A moment in a cursor: as PostgreSQL writes it in JSON, to the microsecond, and with an offset that it can read. */
export const momentKey = z.iso
  .datetime({ offset: true })
  .regex(/^[1-9]\d{3}-[^.]{14}(\.\d{1,6})?(Z|[+-](0\d|1[0-5]):[0-5]\d)$/)

const MAX_BIGINT = 2n ** 63n - 1n

export const isBigint = (text: string): boolean => /^\d{1,19}$/.test(text) && BigInt(text) <= MAX_BIGINT

/** An id in a cursor: a `bigint` as text. */
export const idKey = z.string().refine(isBigint)

/** The column `cursor` of a row in a page: `` cursorOf(sql.part`created_at, user_id`) ``. */
export const cursorOf = (columns: Fragment): Fragment => sql.part`jsonb_build_array(${columns})::text as cursor`

type WithCursor<Row> = Row & { readonly cursor: string }

export const withCursor = <Row>(row: z.ZodObject & z.ZodType<Row>) =>
  row.extend({ cursor: z.string() }) as unknown as z.ZodType<WithCursor<Row>>

/**
 * Expects `limit + 1` rows: the last one only shows that there is a next page. `searchedTo`: the cursor of the last row
 * that a search without an index has looked at, where the next page goes on.
 */
export function pageOf<Row>(rows: readonly WithCursor<Row>[], limit: number, searchedTo?: string): Page<Row> {
  const last = rows.length > limit ? rows[limit - 1]?.cursor : searchedTo
  return {
    rows: rows.slice(0, limit).map(({ cursor: _, ...row }) => row as Row),
    next: last === undefined ? null : Buffer.from(last).toString('base64url'),
  }
}

/** So many rows are looked at for one page of a search that no index serves. */
export const SEARCHED_ROWS = 10_000

/** A list in the order of its sort keys. */
interface Listing<Row> {
  readonly row: z.ZodObject & z.ZodType<Row>
  readonly columns: Fragment
  /** What is read of them for the page, if that costs much to compute for each row that is searched. */
  readonly shown?: Fragment
  /** What follows `from`, with a `where`: an index finds these rows, in the order of the list. */
  readonly from: Fragment
  /** Which of them are wanted, if no index has that; undefined: all. */
  readonly wanted?: Fragment | undefined
  /** The columns by which it is sorted, with their types; together they tell rows apart. */
  readonly keys: Readonly<Record<string, string>>
  readonly newestFirst?: true
}

export interface AskedPage {
  readonly limit: number
  /** The sort keys of the last row of the page before. */
  readonly after?: readonly unknown[] | undefined
}

/** The parts of a listing's statements: its rows beyond the last page, their order, and the cursor of a row. */
function partsOf(
  { from, keys, newestFirst }: Pick<Listing<unknown>, 'from' | 'keys' | 'newestFirst'>,
  after: AskedPage['after'],
) {
  const columns = Object.keys(keys)
  const types = Object.values(keys)
  const values = sql.join(types.map((type, place) => sql.part`${after?.[place]}::${sql.identifier(type)}`))
  const beyond = newestFirst ? sql.part`<` : sql.part`>`
  return {
    rows: after ? sql.part`${from} and (${columnsOf(columns)}) ${beyond} (${values})` : from,
    order: sql.part`order by ${columnsOf(columns.map((column) => (newestFirst ? `${column} desc` : column)))}`,
    // A bigint as text, since JSON would round it.
    cursor: cursorOf(columnsOf(columns.map((column) => (keys[column] === 'int8' ? `${column}::text` : column)))),
  }
}

const rowsOf = <Row>(db: Db, listing: Listing<Row>, { limit, after }: AskedPage): Promise<WithCursor<Row>[]> => {
  const { row, columns, shown = columns } = listing
  const { rows, order, cursor } = partsOf(listing, after)
  return db.listWithCustomPlan(
    withCursor(row),
    sql`select ${shown}, ${cursor} from ${rows} ${order} limit ${limit + 1}`,
  )
}

const searchedRow = <Row>(row: z.ZodObject & z.ZodType<Row>) =>
  row.extend({ cursor: z.string(), is_wanted: z.boolean(), is_last: z.boolean() }) as unknown as z.ZodType<
    WithCursor<Row> & { readonly is_wanted: boolean; readonly is_last: boolean }
  >

/**
 * A page of a list or, with `wanted`, of a search, which may have few rows or none although there is a next page. The
 * last row that is looked at comes along, wanted or not: a second statement would see another one once rows have moved.
 */
export async function listPage<Row>(db: Db, listing: Listing<Row>, page: AskedPage): Promise<Page<Row>> {
  const { row, columns, shown = columns, wanted } = listing
  const { limit } = page
  if (!wanted) return pageOf(await rowsOf(db, listing, page), limit)
  const { rows, order, cursor } = partsOf(listing, page.after)
  const found = await db.listWithCustomPlan(
    searchedRow(row),
    sql`select ${shown}, ${cursor}, (${wanted}) is true as is_wanted, searched_place = ${SEARCHED_ROWS} as is_last
        from (select ${columns}, row_number() over (${order}) as searched_place from ${rows}
              ${order} limit ${SEARCHED_ROWS}) searched
        where ${wanted} or searched_place = ${SEARCHED_ROWS} ${order} limit ${limit + 1}`,
  )
  const last = found.find(({ is_last }) => is_last)?.cursor
  const matches = found.flatMap(({ is_wanted, is_last: _, ...row }) => (is_wanted ? [row] : []))
  return pageOf(matches as unknown as WithCursor<Row>[], limit, last)
}

export const pageNamed = async <Name extends string, Row>(name: Name, page: Promise<Page<Row>>) => {
  const { rows, next } = await page
  return { [name]: rows, next } as { readonly [Rows in Name]: Row[] } & Pick<Page<Row>, 'next'>
}

/** A page of a list over people, merged from a page of each shard by PostgreSQL, as only it knows its collation. */
export async function listPageOfShards<Row>(db: Db, listing: Listing<Row>, page: AskedPage): Promise<Page<Row>> {
  const { limit } = page
  const rows = await ofAllShards(db, (shard) => rowsOf(shard, listing, page))
  if (db.shards().length === 1) return pageOf(rows, limit)
  const direction = listing.newestFirst ? sql.part` desc` : sql.part``
  const keys = Object.values(listing.keys).map(
    (type, place) => sql.part`(key ->> ${place}::int)::${sql.identifier(type)}${direction}`,
  )
  const sorted = await db.many(
    z.object({ place: z.coerce.number() }),
    sql`select place from unnest(${rows.map(({ cursor }) => cursor)}::jsonb[]) with ordinality as read (key, place)
        order by ${sql.join(keys)} limit ${limit + 1}`,
  )
  return pageOf(
    sorted.flatMap(({ place }) => rows[place - 1] ?? []),
    limit,
  )
}

/** A text, or the beginning of one, by which a list is filtered. */
export const filterText = (maxLength: number) => z.string().min(1).max(maxLength)

const NOT_A_MOMENT = problem('must-be-moment')
const YEAR = /^[1-9]\d{3}-/
const day = z.iso.date().regex(YEAR)
const momentOrDay = z.union([z.iso.datetime({ offset: true }).regex(YEAR), day], NOT_A_MOMENT)

/** Fields that choose a period. Days are whole days in UTC, both inclusive; a moment given as `to` is exclusive. */
export const periodInput = {
  from: momentOrDay
    .transform((text) => fromEpochMilliseconds(Date.parse(text)))
    .optional()
    .meta({ wire: 'date' }),
  to: momentOrDay
    .transform((text) => addSeconds(fromEpochMilliseconds(Date.parse(text)), day.safeParse(text).success ? DAY_S : 0))
    .optional()
    .meta({ wire: 'date' }),
}

/** The `like` pattern for texts with this prefix. */
export const beginsWith = (prefix: string | undefined): string | undefined =>
  prefix === undefined ? undefined : `${prefix.replace(/[\\%_]/g, '\\$&')}%`
