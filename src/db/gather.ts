import type { QueryConfig } from 'pg'
import type { z } from 'zod'
import { alone, type GatherLimits, Line, type Meeting, type Perform } from './gather-line.ts'

export { GATHER_LIMITS, type GatherLimits } from './gather-line.ts'

/**
 * Gathering: requests that want the same statement at the same moment share one execution of it.
 *
 * A round trip, and for writes a commit, costs far more than one more row in a statement. So requests wait for the end
 * of the event-loop tick, and while enough batches are at work, for one of these to come back; whoever has arrived by
 * then goes together. An idle service sends each request at once; a busy one sends fewer and larger statements.
 *
 * Each request keeps its own outcome: the statement decides every item by itself, and its rows say by `nth` whose they
 * are. Nothing is kept from one batch to the next, so what was changed meanwhile is seen by the next request.
 */
export interface Gathered<Item, Row> extends Meeting<Item> {
  readonly row: z.ZodType<Row>
  /** Made by `` sql`…` `` over `unnest(…) with ordinality`. Each row has `nth`, the item's place counted from 1. */
  readonly statement: (items: readonly Item[]) => QueryConfig
}

/**
 * Work that takes more than one statement and gathers all the same: one transaction for the whole batch. The work decides
 * each item by itself; what it throws undoes the batch.
 */
export interface GatheredWork<Tx, Item, Outcome> extends Meeting<Item> {
  /** An outcome an item, in their order; undefined for one that has to be done by itself. */
  readonly work: (tx: Tx, items: readonly Item[]) => Promise<readonly (Outcome | undefined)[]>
}

/** The rows that belong to this item, in the statement's order. */
export type Gather = <Item, Row>(gathered: Gathered<Item, Row>, item: Item) => Promise<Row[]>

/** What became of this item; told after the commit. */
export type GatherWork<Tx> = <Item, Outcome>(gathered: GatheredWork<Tx, Item, Outcome>, item: Item) => Promise<Outcome>

/** Sends a statement, unless `until` is over; throws DatabaseUnavailable when the database went away, be it before or after a commit. */
type Run = (statement: QueryConfig, until?: number) => Promise<{ rows: unknown[] }>

/** Runs work in a transaction; throws DatabaseUnavailable as above, and anything else only after the rollback. */
type InTx<Tx> = <Result>(work: (tx: Tx) => Promise<Result>, until?: number) => Promise<Result>

/** Each item by itself and at once: how a transaction, which has its own connection, answers. */
export const oneByOne =
  (run: Run): Gather =>
  (gathered, item) =>
    alone(performStatement(run, gathered), item)

export const workOneByOne =
  <Tx>(tx: InTx<Tx>): GatherWork<Tx> =>
  (gathered, item) =>
    alone(performWork(tx, gathered), item)

export function gatherOver(run: Run, limits: GatherLimits): Gather {
  const lineOf = lines(limits)
  return (gathered, item) => lineOf(gathered, () => performStatement(run, gathered)).join(item)
}

export function gatherWorkOver<Tx>(tx: InTx<Tx>, limits: GatherLimits): GatherWork<Tx> {
  const lineOf = lines(limits)
  return (gathered, item) => lineOf(gathered, () => performWork(tx, gathered)).join(item)
}

function lines(limits: GatherLimits) {
  const known = new Map<object, unknown>()
  return <Item, Outcome>(meeting: Meeting<Item>, perform: () => Perform<Item, Outcome>): Line<Item, Outcome> => {
    const line = (known.get(meeting) as Line<Item, Outcome> | undefined) ?? new Line(perform(), meeting, limits)
    known.set(meeting, line)
    return line
  }
}

interface Numbered {
  readonly nth: number | string
}

const performStatement =
  <Item, Row>(run: Run, { statement, row }: Gathered<Item, Row>): Perform<Item, Row[]> =>
  async (items, until) => {
    const { rows } = await run(statement(items), until)
    const own: Numbered[][] = items.map(() => [])
    for (const found of rows as Numbered[]) own[Number(found.nth) - 1]?.push(found)
    return own.map((found) => () => found.map((each) => row.parse(each)))
  }

function performWork<Tx, Item, Outcome>(
  tx: InTx<Tx>,
  { work }: GatheredWork<Tx, Item, Outcome>,
): Perform<Item, Outcome> {
  const perform: Perform<Item, Outcome> = async (items, until) => {
    const outcomes = await tx((inside) => work(inside, items), until)
    return items.map(
      (item, place) => () => outcomes[place] ?? (items.length > 1 ? alone(perform, item, until) : undecided()),
    )
  }
  return perform
}

function undecided(): never {
  throw new Error('work on one item alone must decide it')
}
