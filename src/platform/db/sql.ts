import type { QueryResult } from 'pg'
import { z } from 'zod'
import type { ConcurrencyLimit } from '../lib/concurrency-limit.ts'
import { keepsConnection, rethrowUnavailable } from '../lib/database-errors.ts'
import type { Tracing } from '../lib/tracing.ts'
import { BATCH_LIMITS, type Batching, type BatchLimits, batchedOver, unbatched } from './batch.ts'
import { type Connections, connected, send, untilCommitted, withoutName } from './pause.ts'
import { CUSTOM_PLAN_SETTINGS, INDEX_PLAN_SETTINGS, type ServerSettings } from './planning.ts'
import { searchPathOf, shardOf } from './shards.ts'
import { type ConnectionGroup, connectionShares, type Shares } from './shares.ts'
import { type Statement, sql } from './statement.ts'
import { beginTransaction } from './transaction.ts'

export { type Fragment, type Statement, sql } from './statement.ts'

/** Inside a transaction, batches have one item, and `batchWork` is part of the transaction. */
export interface Db extends Batching<Db> {
  /** The first row; throws if there is none. */
  one<T>(row: z.ZodType<T>, statement: Statement): Promise<T>
  maybe<T>(row: z.ZodType<T>, statement: Statement): Promise<T | undefined>
  many<T>(row: z.ZodType<T>, statement: Statement): Promise<T[]>
  /** The value of a statement whose rows have one column; throws when there is no row. */
  value<T>(column: z.ZodType<T>, statement: Statement): Promise<T>
  maybeValue<T>(column: z.ZodType<T>, statement: Statement): Promise<T | undefined>
  values<T>(column: z.ZodType<T>, statement: Statement): Promise<T[]>
  /**
   * Like `many`, with a custom plan: planned for these values, with PostgreSQL's own settings (planning.ts). For rarely
   * read lists of large tables. Inside a transaction the settings stay until its end.
   */
  listWithCustomPlan<T>(row: z.ZodType<T>, statement: Statement): Promise<T[]>
  /** The same, reading tables by their indexes alone: for rows looked up by key (sql.sameKey) in any number. */
  listWithIndexPlan<T>(row: z.ZodType<T>, statement: Statement): Promise<T[]>
  /** The number of rows affected. */
  exec(statement: Statement): Promise<number>
  /** Runs `work` in one transaction: commits when it resolves, rolls back when it throws. */
  tx<T>(work: (db: Db) => Promise<T>): Promise<T>
  /** Like `tx`, for work that no request waits for: each statement may take `seconds`. Inside a transaction, `tx`. */
  slowTx<T>(seconds: number, work: (db: Db) => Promise<T>): Promise<T>
  /** This database, limited to the share of connections of this group (shares.ts); inside a transaction, itself. */
  withShareOf(name: ConnectionGroup): Db
  /** This database over the one connection that is reserved for `/readyz`. */
  reserved(): Db
  /** For statements about the person of this routing key (shards.ts); without shards, itself. */
  of(routingKey: number): Db
  /** For statements about all people: one handle per shard; without shards, itself alone. */
  shards(): readonly Db[]
}

/** Where the rows of a table are: in each shard for tables of people, else in `public`. Asks no shard: it may be away. */
export async function placesOf(db: Db, table: string): Promise<readonly Db[]> {
  const shards = db.shards()
  if (shards.length === 1) return [db]
  const whole = await db.value(z.boolean(), sql`select to_regclass('public.' || ${table}) is not null as whole`)
  return whole ? [db] : shards
}

/** The shards of a database, in order; `handles` is filled when they are opened. */
export interface ShardSet {
  readonly schemas: readonly string[]
  readonly handles: Db[]
}

const setLocally = (settings: ServerSettings): Statement =>
  sql`select set_config(name, value, true)
      from unnest(${Object.keys(settings)}::text[], ${Object.values(settings)}::text[]) as setting (name, value)`

const setTimeLimit = (seconds: number): Statement => sql`select set_config('statement_timeout', ${`${seconds}s`}, true)`

export const withShareOf = <Given extends { readonly db: Db }>(given: Given, group: ConnectionGroup): Given => ({
  ...given,
  db: given.db.withShareOf(group),
})

/** `until`, by `performance.now()`: how long to wait for a database that is away. */
type Run = (statement: Statement, until?: number) => Promise<QueryResult>
type InTx = <T>(work: (db: Db) => Promise<T>, until?: number) => Promise<T>

type Views = Pick<Db, 'withShareOf' | 'reserved' | 'slowTx' | 'of' | 'shards'>

function dbOver(run: Run, tx: InTx, batching: Batching<Db>, views: Views): Db {
  const many: Db['many'] = async (row, statement) => (await run(statement)).rows.map((found) => row.parse(found))
  const maybe: Db['maybe'] = async (row, statement) => {
    const found = (await run(statement)).rows[0]
    return found === undefined ? undefined : row.parse(found)
  }
  const one: Db['one'] = async (row, statement) => row.parse((await run(statement)).rows[0])
  const columnOf = async (statement: Statement) => (await run(statement)).rows.map((found) => Object.values(found)[0])
  const values: Db['values'] = async (column, statement) =>
    (await columnOf(statement)).map((found) => column.parse(found))
  const maybeValue: Db['maybeValue'] = async (column, statement) => (await values(column, statement))[0]
  const value: Db['value'] = async (column, statement) => column.parse((await columnOf(statement))[0])
  const exec: Db['exec'] = async (statement) => (await run(statement)).rowCount ?? 0
  const listWith = <T>(settings: ServerSettings, row: z.ZodType<T>, statement: Statement): Promise<T[]> =>
    tx(async (inside) => {
      await inside.exec(setLocally(settings))
      return inside.many(row, statement)
    })
  const listWithCustomPlan: Db['listWithCustomPlan'] = (...list) => listWith(CUSTOM_PLAN_SETTINGS, ...list)
  const listWithIndexPlan: Db['listWithIndexPlan'] = (...list) => listWith(INDEX_PLAN_SETTINGS, ...list)
  const lists = { many, values, listWithCustomPlan, listWithIndexPlan }
  return { one, maybe, value, maybeValue, ...lists, exec, ...batching, tx, ...views }
}

/** Records each statement as a span, if tracing is on. The text holds no values. */
const traced = (run: Run, tracing?: Tracing): Run =>
  tracing ? (statement, until) => tracing.statement(statement.text, () => run(statement, until)) : run

/** The client waits longer than statement_timeout, so that PostgreSQL gives up first. */
const MARGIN_MS = 2_000

const searchIn = (schema: string): Statement => sql`select set_config('search_path', ${searchPathOf(schema)}, true)`

/** The handles of one transaction, one per schema with tables of people, between which the search_path is switched. */
function handleInside(run: Run, schemas: readonly string[], home: string | undefined): Db {
  let path = home
  const handles = new Map<string | undefined, Db>()
  const at = (schema: string | undefined): Db => {
    const known = handles.get(schema)
    if (known) return known
    const there: Run = (statement) => {
      if (schema !== undefined && schema !== path) {
        path = schema
        run(searchIn(schema)).catch(() => {}) // the statement below fails with the same error
      }
      return run(statement)
    }
    // A transaction inside a transaction is part of it, whatever its group.
    const same = () => handle
    const nested: InTx = (inner) => inner(handle)
    const handle: Db = dbOver(there, nested, unbatched(there, nested), {
      withShareOf: same,
      reserved: same,
      slowTx: (_seconds, inner) => inner(handle),
      of: (routingKey) => (schemas.length === 0 ? handle : at(schemas[shardOf(routingKey, schemas.length)])),
      shards: () => (schemas.length === 0 ? [handle] : schemas.map(at)),
    })
    handles.set(schema, handle)
    return handle
  }
  return at(home)
}

interface TransactionOptions {
  /** statement_timeout of this transaction, if not the default. */
  readonly seconds?: number
  /** Sends every statement without its name, so that it is planned anew. */
  readonly withoutNames?: boolean
}

const inTxOf =
  (pool: Connections, tracing?: Tracing, schemas: readonly string[] = [], home?: string) =>
  async <T>(
    work: (db: Db) => Promise<T>,
    until: number,
    { seconds, withoutNames }: TransactionOptions = {},
  ): Promise<T> => {
    const client = await connected(pool, until)
    let broken: Error | undefined
    let committing = false
    const timeoutMs = seconds === undefined ? undefined : seconds * 1_000 + MARGIN_MS
    const transaction = beginTransaction(client, timeoutMs)
    try {
      const run: Run = withoutNames ? (statement) => transaction.run(withoutName(statement)) : transaction.run
      const inside = handleInside(traced(run, tracing), schemas, home)
      const begun = client.query('begin') // sent together with the first statement
      const allowed = seconds === undefined ? undefined : inside.exec(setTimeLimit(seconds))
      const [result] = await Promise.all([work(inside), begun, allowed])
      committing = true
      await transaction.commit()
      return result
    } catch (error) {
      transaction.end(error)
      // A connection that timed out, or leads to a read-only database, is closed, which rolls back too.
      if (!keepsConnection(error)) broken = error as Error
      else {
        await client.query('rollback').catch((failure: Error) => {
          broken = failure
        })
      }
      return rethrowUnavailable(error, committing)
    } finally {
      client.release(broken)
    }
  }

function handleOf({ handles }: ShardSet, routingKey: number): Db {
  const handle = handles[shardOf(routingKey, handles.length)]
  if (!handle) throw new Error(`no shard for the routing key ${routingKey}`)
  return handle
}

/** `set`: the shards for statements about people; `home`: the schema of the shard that this pool is for, if any. */
export function dbOf(
  pool: Connections,
  limits: BatchLimits = BATCH_LIMITS,
  shares: Shares = connectionShares(pool.options.max, limits),
  tracing?: Tracing,
  set?: ShardSet,
  home?: string,
): Db {
  const run = traced((statement, until = performance.now()) => send(pool, statement, until), tracing)
  const inTx = inTxOf(pool, tracing, set?.schemas, home)
  const groups = new Map<ConnectionGroup, Db>()
  const views = {
    withShareOf: (name: ConnectionGroup) => {
      const known = groups.get(name) ?? viewBy(shares.of(name), (shard) => shard.withShareOf(name))
      groups.set(name, known)
      return known
    },
    reserved: () => viewBy(shares.reserved, (shard) => shard.reserved(), 0), // must not wait: it checks availability
  }
  /** `likewise`: the same view of a shard. */
  const viewBy = (limit: ConcurrencyLimit, likewise = (shard: Db): Db => shard, waitMs = limits.waitMs): Db => {
    const within = <T>(until: number | undefined, work: (until: number) => Promise<T>): Promise<T> => {
      const end = until ?? performance.now() + waitMs
      return limit.run(() => work(end), until)
    }
    const sent: Run = (statement, until) => within(until, (end) => run(statement, end))
    const repeated: InTx = (work, until) =>
      within(until, (end) => untilCommitted((first) => inTx(work, end, { withoutNames: !first }), end))
    const view: Db = dbOver(
      sent,
      (work, until) => within(until, (end) => inTx(work, end)),
      batchedOver(sent, repeated, limits),
      {
        ...views,
        slowTx: (seconds, work) => within(undefined, (end) => inTx(work, end, { seconds })),
        of: set ? (routingKey) => likewise(handleOf(set, routingKey)) : () => view,
        shards: set ? () => set.handles.map(likewise) : () => [view],
      },
    )
    return view
  }
  return viewBy(shares.all)
}
