import type { Pool, PoolClient, QueryResult } from 'pg'
import type { z } from 'zod'
import type { Turns } from '../lib/turns.ts'
import { isStalePlan, keepsConnection, rethrowUnavailable } from '../lib/web/unavailable.ts'
import {
  GATHER_LIMITS,
  type Gather,
  type GatherLimits,
  type GatherWork,
  gatherOver,
  gatherWorkOver,
  oneByOne,
  workOneByOne,
} from './gather.ts'
import { FREELY, NAMES } from './planning.ts'
import { connectionShares, type Room } from './shares.ts'
import { type Statement, sql } from './statement.ts'

export { type Fragment, type Statement, sql } from './statement.ts'

export interface Db {
  /** The first row; throws when there is none. */
  one<T>(row: z.ZodType<T>, statement: Statement): Promise<T>
  maybe<T>(row: z.ZodType<T>, statement: Statement): Promise<T | undefined>
  many<T>(row: z.ZodType<T>, statement: Statement): Promise<T[]>
  /**
   * As `many`, but planned for these very values and with all that PostgreSQL can do (planning.ts): for lists that are
   * looked at now and then. Within a transaction that holds until its end.
   */
  search<T>(row: z.ZodType<T>, statement: Statement): Promise<T[]>
  /** Number of rows touched. */
  exec(statement: Statement): Promise<number>
  /** Takes part in a statement that requests share (gather.ts); within a transaction, by itself. */
  readonly gather: Gather
  /** Takes part in a transaction that requests share; within a transaction, by itself and as part of that. */
  readonly gatherWork: GatherWork<Db>
  /** Runs `work` in one transaction: commits when it resolves, rolls back when it throws. */
  tx<T>(work: (db: Db) => Promise<T>): Promise<T>
  /** As `tx`, for work that no request waits for: each statement may take that many seconds. Within a transaction as `tx`. */
  slowTx<T>(seconds: number, work: (db: Db) => Promise<T>): Promise<T>
  /** The same database by those connections that this room may hold (shares.ts); within a transaction, the same. */
  room(name: Room): Db
  /** The same database by the one connection that nobody else takes: for `/readyz`. */
  apart(): Db
}

const plannedFreely = (): Statement =>
  sql`select set_config(name, value, true) from unnest(${NAMES}::text[], ${FREELY}::text[]) as setting (name, value)`

const allowedToTake = (seconds: number): Statement =>
  sql`select set_config('statement_timeout', ${`${seconds}s`}, true)`

type Run = (statement: Statement, until?: number) => Promise<QueryResult>
type InTx = <T>(work: (db: Db) => Promise<T>, until?: number) => Promise<T>

type Gathering = (run: Run, tx: InTx) => Pick<Db, 'gather' | 'gatherWork'>
type Views = Pick<Db, 'room' | 'apart' | 'slowTx'>

function dbOver(run: Run, tx: InTx, gathering: Gathering, views: Views): Db {
  const many: Db['many'] = async (row, statement) => (await run(statement)).rows.map((found) => row.parse(found))
  const maybe: Db['maybe'] = async (row, statement) => {
    const found = (await run(statement)).rows[0]
    return found === undefined ? undefined : row.parse(found)
  }
  const one: Db['one'] = async (row, statement) => row.parse((await run(statement)).rows[0])
  const exec: Db['exec'] = async (statement) => (await run(statement)).rowCount ?? 0
  const search: Db['search'] = (row, statement) =>
    tx(async (inside) => {
      await inside.exec(plannedFreely())
      return inside.many(row, statement)
    })
  return { one, maybe, many, search, exec, ...gathering(run, tx), tx, ...views }
}

const byItself: Gathering = (run, tx) => ({ gather: oneByOne(run), gatherWork: workOneByOne(tx) })

/** Whether it changes something, and so leaves a question when its answer is lost. */
const writes = ({ text }: Statement): boolean => /\b(insert|update|delete|graphile_worker)\b/i.test(text)

/** Each statement by itself, committed when it is answered. */
const runByItself =
  (pool: Pool): Run =>
  (statement) =>
    pool
      .query(statement)
      .catch((error) => {
        if (!isStalePlan(error)) throw error
        // Nothing was done. Without its name it is planned afresh, on whatever connection.
        return pool.query({ text: statement.text, values: statement.values ?? [] })
      })
      .catch((error) => rethrowUnavailable(error, writes(statement)))

/** `patienceMs`: how long to wait for the answer, if not as long as usual. */
const runInside =
  (client: PoolClient, patienceMs?: number): Run =>
  (statement) => {
    const patient: Statement & { query_timeout?: number } =
      patienceMs === undefined ? statement : { ...statement, query_timeout: patienceMs }
    return client.query(patient).catch((error) => rethrowUnavailable(error))
  }

/** Longer than the statement may take: it is PostgreSQL that gives up. */
const MARGIN_MS = 2_000

/** `seconds`: how long each statement may take, if not as long as usual. */
const inTxOf =
  (pool: Pool) =>
  async <T>(work: (db: Db) => Promise<T>, seconds?: number): Promise<T> => {
    const client = await pool.connect().catch((error) => rethrowUnavailable(error))
    let broken: Error | undefined
    let committing = false
    try {
      const run = runInside(client, seconds === undefined ? undefined : seconds * 1_000 + MARGIN_MS)
      // A transaction begun inside of one is part of it, whatever room it is begun for.
      const same = () => inside
      const views: Views = { room: same, apart: same, slowTx: (_seconds, inner) => inner(inside) }
      const inside: Db = dbOver(run, (inner) => inner(inside), byItself, views)
      const begun = client.query('begin') // goes out together with the first statement
      const allowed = seconds === undefined ? undefined : inside.exec(allowedToTake(seconds))
      const [result] = await Promise.all([work(inside), begun, allowed])
      committing = true
      await client.query('commit')
      return result
    } catch (error) {
      // A connection that was given up, or leads to a database that takes no writes, is closed: that rolls back too.
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

export function dbOf(pool: Pool, limits: GatherLimits = GATHER_LIMITS): Db {
  const run = runByItself(pool)
  const inTx = inTxOf(pool)
  const shares = connectionShares(pool.options.max, limits)
  const gathering: Gathering = (by, tx) => ({ gather: gatherOver(by, limits), gatherWork: gatherWorkOver(tx, limits) })
  const rooms = new Map<Room, Db>()
  const views = {
    room: (name: Room) => {
      const known = rooms.get(name) ?? viewBy(shares.of(name))
      rooms.set(name, known)
      return known
    },
    apart: () => viewBy(shares.apart),
  }
  const viewBy = (turns: Turns): Db =>
    dbOver(
      (statement, until) => turns.run(() => run(statement), until),
      (work, until) => turns.run(() => inTx(work), until),
      gathering,
      { ...views, slowTx: (seconds, work) => turns.run(() => inTx(work, seconds)) },
    )
  return viewBy(shares.all)
}
