import type { Pool, PoolClient, QueryConfig, QueryResult } from 'pg'
import type { z } from 'zod'
import { rethrowUnavailable } from '../lib/unavailable.ts'
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

/** A statement and its values; made by `` sql`…` `` only, so a value can never become part of the text. */
export type Statement = QueryConfig

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
}

const prepared = new WeakMap<TemplateStringsArray, { name: string; text: string }>()
let statements = 0

/** Each place in the code that says sql`…` becomes one statement, prepared once a connection. */
export function sql(strings: TemplateStringsArray, ...values: unknown[]): Statement {
  let known = prepared.get(strings)
  if (!known) {
    const text = strings.reduce((before, part, index) => `${before}$${index}${part}`)
    known = { name: `s${statements++}`, text }
    prepared.set(strings, known)
  }
  return { name: known.name, text: known.text, values }
}

const plannedFreely = (): Statement =>
  sql`select set_config(name, value, true) from unnest(${NAMES}::text[], ${FREELY}::text[]) as setting (name, value)`

type Run = (statement: Statement) => Promise<QueryResult>

type Gathering = (run: Run, tx: Db['tx']) => Pick<Db, 'gather' | 'gatherWork'>

function dbOver(queryable: Pool | PoolClient, tx: Db['tx'], gathering: Gathering): Db {
  const run: Run = (statement) => queryable.query(statement).catch(rethrowUnavailable)
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
  return { one, maybe, many, search, exec, ...gathering(run, tx), tx }
}

const byItself: Gathering = (run, tx) => ({ gather: oneByOne(run), gatherWork: workOneByOne(tx) })

export function dbOf(pool: Pool, limits: GatherLimits = GATHER_LIMITS): Db {
  const tx: Db['tx'] = async (work) => {
    const client = await pool.connect().catch(rethrowUnavailable)
    let broken: Error | undefined
    try {
      // A transaction begun inside of one is part of it.
      const inside: Db = dbOver(client, (inner) => inner(inside), byItself)
      const begun = client.query('begin') // goes out together with the first statement
      const [result] = await Promise.all([work(inside), begun])
      await client.query('commit')
      return result
    } catch (error) {
      await client.query('rollback').catch((failure: Error) => {
        broken = failure
      })
      return rethrowUnavailable(error)
    } finally {
      client.release(broken)
    }
  }
  return dbOver(pool, tx, (run) => ({ gather: gatherOver(run, limits), gatherWork: gatherWorkOver(tx, limits) }))
}
