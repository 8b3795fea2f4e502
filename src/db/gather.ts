import { DatabaseError, type QueryConfig } from 'pg'
import type { z } from 'zod'

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
export interface Gathered<Item, Row> {
  readonly row: z.ZodType<Row>
  /** Made by `` sql`…` `` over `unnest(…) with ordinality`. Each row has `nth`, the item's place counted from 1. */
  readonly statement: (items: readonly Item[]) => QueryConfig
  /** What the item is about. Items of one key never meet in one statement as two: see `same`. */
  readonly key: (item: Item) => string
  /**
   * What happens to items of one key. Reads `share` one answer. Writes stay `apart`: the second waits for the first one's
   * commit, as if it had arrived a moment later; and items go in the order of their keys, so that batches of several
   * processes lock their rows in one order.
   */
  readonly same: 'share' | 'apart'
}

export interface GatherLimits {
  /** Items in one statement at most; 1 sends each request by itself. */
  readonly items: number
  /** Batches of one statement at work at the same time. */
  readonly batches: number
}

export const GATHER_LIMITS: GatherLimits = { items: 200, batches: 2 }

/** The rows that belong to this item, in the statement's order. */
export type Gather = <Item, Row>(gathered: Gathered<Item, Row>, item: Item) => Promise<Row[]>

/** Sends a statement; throws DatabaseUnavailable when the database went away, be it before or after a commit. */
type Run = (statement: QueryConfig) => Promise<{ rows: unknown[] }>

interface Waiting<Item, Row> {
  readonly item: Item
  readonly key: string
  resolve(rows: Row[]): void
  reject(error: unknown): void
}

/** One item of a batch with everybody who waits for its answer. */
type Entry<Item, Row> = [Waiting<Item, Row>, ...Waiting<Item, Row>[]]

/** Each item by itself and at once: how a transaction, which has its own connection, answers. */
export const oneByOne =
  (run: Run): Gather =>
  (gathered, item) =>
    new Promise((resolve, reject) => {
      void settle(run, gathered, [[{ item, key: '', resolve, reject }]])
    })

export function gatherOver(run: Run, limits: GatherLimits): Gather {
  const lines = new Map<object, unknown>()
  return <Item, Row>(gathered: Gathered<Item, Row>, item: Item) => {
    const known = lines.get(gathered) as Line<Item, Row> | undefined
    const line = known ?? new Line(run, gathered, limits)
    if (!known) lines.set(gathered, line)
    return line.join(item)
  }
}

/** Those who wait for one statement. */
class Line<Item, Row> {
  readonly #run: Run
  readonly #gathered: Gathered<Item, Row>
  readonly #limits: GatherLimits
  #waiting: Waiting<Item, Row>[] = []
  #atWork = 0
  #planned = false

  constructor(run: Run, gathered: Gathered<Item, Row>, limits: GatherLimits) {
    this.#run = run
    this.#gathered = gathered
    this.#limits = limits
  }

  join(item: Item): Promise<Row[]> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, key: this.#gathered.key(item), resolve, reject })
      this.#plan()
    })
  }

  /** After this tick's requests have all been read. */
  #plan(): void {
    if (this.#planned || this.#waiting.length === 0 || this.#atWork >= this.#limits.batches) return
    this.#planned = true
    setImmediate(() => {
      this.#planned = false
      void this.#send()
      this.#plan()
    })
  }

  async #send(): Promise<void> {
    this.#atWork++
    await settle(this.#run, this.#gathered, this.#take())
    this.#atWork--
    this.#plan()
  }

  #take(): Entry<Item, Row>[] {
    const { same } = this.#gathered
    const taken = new Map<string, Entry<Item, Row>>()
    const left: Waiting<Item, Row>[] = []
    for (const waiting of this.#waiting) {
      const entry = taken.get(waiting.key)
      if (entry && same === 'share') entry.push(waiting)
      else if (entry || taken.size >= this.#limits.items) left.push(waiting)
      else taken.set(waiting.key, [waiting])
    }
    this.#waiting = left
    const entries = [...taken.values()]
    return same === 'apart' ? entries.sort(([one], [other]) => (one.key < other.key ? -1 : 1)) : entries
  }
}

/**
 * Answers everybody in the batch; never throws. A statement that the database refused has changed nothing, so each half
 * is tried again by itself until those are left alone that fail by themselves. A lost connection is different: the
 * statement may have been committed, so it is not repeated, and nobody is told a success.
 */
async function settle<Item, Row>(run: Run, gathered: Gathered<Item, Row>, batch: Entry<Item, Row>[]): Promise<void> {
  try {
    const { rows } = await run(gathered.statement(batch.map(([{ item }]) => item)))
    answer(gathered, batch, rows as Numbered[])
  } catch (error) {
    if (error instanceof DatabaseError && batch.length > 1) {
      const middle = batch.length >> 1
      await settle(run, gathered, batch.slice(0, middle))
      await settle(run, gathered, batch.slice(middle))
      return
    }
    for (const entry of batch) for (const { reject } of entry) reject(error)
  }
}

interface Numbered {
  readonly nth: number | string
}

function answer<Item, Row>({ row }: Gathered<Item, Row>, batch: Entry<Item, Row>[], rows: Numbered[]): void {
  const own: Numbered[][] = batch.map(() => [])
  for (const found of rows) own[Number(found.nth) - 1]?.push(found)
  batch.forEach((entry, place) => {
    try {
      const parsed = (own[place] ?? []).map((found) => row.parse(found))
      for (const { resolve } of entry) resolve(parsed)
    } catch (error) {
      for (const { reject } of entry) reject(error)
    }
  })
}
