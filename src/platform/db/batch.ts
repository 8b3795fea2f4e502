import type { QueryConfig } from 'pg'
import type { z } from 'zod'
import { compiledOf } from '../lib/compiled.ts'
import { type BatchLimits, type BatchPolicy, BatchQueue, type Perform, runAlone } from './batch-queue.ts'

export { BATCH_LIMITS, type BatchLimits } from './batch-queue.ts'

/**
 * Batching: requests that need the same statement at the same moment share one execution, since a round trip, and for
 * writes a commit, costs far more than one more row. They wait for the end of the event-loop tick and, while `batches`
 * statements of the kind are running, for one of them to finish. An idle service sends each request at once.
 *
 * The statement decides each item separately, and its rows carry the item's `ordinal`. Nothing is cached between
 * batches.
 */
export interface Batched<Item, Row> extends BatchPolicy<Item> {
  readonly row: z.ZodType<Row>
  /** Made by `` sql`…` `` of `sql.rows(…)`. Each row has `ordinal`, the item's position counted from 1. */
  readonly statement: (items: readonly Item[]) => QueryConfig
}

/**
 * Batched work of several statements, in one transaction for the whole batch: an error that it throws rolls all back.
 * It must do nothing but send statements, since it may be repeated.
 */
export interface BatchedWork<Tx, Item, Outcome> extends BatchPolicy<Item> {
  /** One outcome per item, in order; undefined for an item that has to be repeated in a transaction of its own. */
  readonly work: (tx: Tx, items: readonly Item[]) => Promise<readonly (Outcome | undefined)[]>
}

/** Sends a statement unless `until` has passed; throws DatabaseUnavailable if the connection was lost, at any moment. */
type Run = (statement: QueryConfig, until?: number) => Promise<{ rows: unknown[] }>

/** Runs work in a transaction; throws DatabaseUnavailable as above, and anything else only after the rollback. */
type InTx<Tx> = <Result>(work: (tx: Tx) => Promise<Result>, until?: number) => Promise<Result>

export interface Batching<Tx> {
  /** Runs the item in a statement shared with other requests; returns its rows in the statement's order. */
  batch<Item, Row>(batched: Batched<Item, Row>, item: Item): Promise<Row[]>
  /** Runs the item in a transaction shared with other requests; returns its outcome after the commit. */
  batchWork<Item, Outcome>(batched: BatchedWork<Tx, Item, Outcome>, item: Item): Promise<Outcome>
}

/** Runs each item at once: inside a transaction, which has its own connection, nothing is shared. */
export const unbatched = <Tx>(run: Run, tx: InTx<Tx>): Batching<Tx> => ({
  batch: (batched, item) => runAlone(performStatement(run, batched), item),
  batchWork: (batched, item) => runAlone(performWork(tx, batched), item),
})

export function batchedOver<Tx>(run: Run, tx: InTx<Tx>, limits: BatchLimits): Batching<Tx> {
  const queues = new Map<object, unknown>()
  const queueOf = <Item, Outcome>(policy: BatchPolicy<Item>, perform: () => Perform<Item, Outcome>) => {
    const known = queues.get(policy) as BatchQueue<Item, Outcome> | undefined
    if (known) return known
    const queue = new BatchQueue(perform(), policy, limits)
    queues.set(policy, queue)
    return queue
  }
  return {
    batch: (batched, item) => queueOf(batched, () => performStatement(run, batched)).join(item),
    batchWork: (batched, item) => queueOf(batched, () => performWork(tx, batched)).join(item),
  }
}

interface Numbered {
  readonly ordinal: number | string
}

export const performStatement =
  <Item, Row>(run: Run, { statement, row }: Batched<Item, Row>): Perform<Item, Row[]> =>
  async (items, until) => {
    const { rows } = await run(statement(items), until)
    const rowsOf: Numbered[][] = items.map(() => [])
    for (const numbered of rows as Numbered[]) rowsOf[Number(numbered.ordinal) - 1]?.push(numbered)
    const parser = items.length > 1 ? compiledOf(row) : row
    return rowsOf.map((own) => () => own.map((each) => parser.parse(each)))
  }

function performWork<Tx, Item, Outcome>(
  tx: InTx<Tx>,
  { work }: BatchedWork<Tx, Item, Outcome>,
): Perform<Item, Outcome> {
  const perform: Perform<Item, Outcome> = async (items, until) => {
    const outcomes = await tx((inside) => work(inside, items), until)
    return items.map(
      (item, place) => () => outcomes[place] ?? (items.length > 1 ? runAlone(perform, item, until) : undecided()),
    )
  }
  return perform
}

function undecided(): never {
  throw new Error('work on one item alone must decide it')
}
