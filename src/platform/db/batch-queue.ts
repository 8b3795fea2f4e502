import { DatabaseError } from 'pg'
import { Overloaded, type QueueLimits } from '../lib/concurrency-limit.ts'

/** The queue in front of a batched statement (batch.ts), and how a batch answers its requests. */

export interface BatchPolicy<Item> {
  /** Identifies what the item is about. A batch never has two rows with one key: see `duplicates`. */
  readonly key: (item: Item) => string
  /**
   * What happens to items with one key. `share`, for reads: they get one answer. `share-write`, for writes of which one
   * is enough: the same. `serialize`, for other writes: the second waits for the commit of the first, as if it had
   * arrived a moment later. Writes are sorted by key, so that batches of several processes lock rows in one order.
   */
  readonly duplicates: 'share' | 'share-write' | 'serialize'
}

export interface BatchLimits extends QueueLimits {
  /** Items in one statement at most; 1 turns batching off. */
  readonly items: number
  /** Batches of one statement that run at the same time at most. */
  readonly batches: number
  /** Called for each batch that is sent, with the number of requests waiting for it, duplicates included. */
  readonly onBatch?: (kind: 'read' | 'write', requests: number) => void
}

export const BATCH_LIMITS: BatchLimits = { items: 200, batches: 2, length: 1_000, waitMs: 3_000 }

interface Waiting<Item, Outcome> {
  readonly item: Item
  readonly key: string
  /** Deadline of the answer, by `performance.now()`. */
  readonly until: number
  resolve(outcome: Outcome | Promise<Outcome>): void
  reject(error: unknown): void
}

/** All requests that wait for one item of a batch. */
type Entry<Item, Outcome> = [Waiting<Item, Outcome>, ...Waiting<Item, Outcome>[]]

/** Runs a batch. Returns a function per item, called once, so that an outcome that cannot be parsed fails alone. */
export type Perform<Item, Outcome> = (
  items: readonly Item[],
  until?: number,
) => Promise<readonly (() => Outcome | Promise<Outcome>)[]>

const QUEUE = 'the database'
/** How precisely deadlines are kept. A timer per request would cost more. */
const CHECK_EVERY_MS = 100

const overloaded = (): Overloaded => new Overloaded(QUEUE)

/**
 * The waiting requests of one statement. One that has waited too long is refused before anything was sent for it. Reads
 * are refused even while their batch runs, since that changes nothing; writes wait for the outcome.
 */
export class BatchQueue<Item, Outcome> {
  readonly #perform: Perform<Item, Outcome>
  readonly #policy: BatchPolicy<Item>
  readonly #limits: BatchLimits
  #waiting: Waiting<Item, Outcome>[] = []
  readonly #runningReads = new Set<readonly Entry<Item, Outcome>[]>()
  #running = 0
  #planned = false
  #watching = false

  constructor(perform: Perform<Item, Outcome>, policy: BatchPolicy<Item>, limits: BatchLimits) {
    this.#perform = perform
    this.#policy = policy
    this.#limits = limits
  }

  join(item: Item): Promise<Outcome> {
    if (this.#waiting.length >= this.#limits.length) return Promise.reject(overloaded())
    const until = performance.now() + this.#limits.waitMs
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, key: this.#policy.key(item), until, resolve, reject })
      this.#plan()
      this.#watchDeadlines()
    })
  }

  #watchDeadlines(): void {
    if (this.#watching) return
    this.#watching = true
    setTimeout(() => {
      this.#watching = false
      this.#refuseOverdue()
      if (this.#waiting.length > 0 || this.#runningReads.size > 0) this.#watchDeadlines()
    }, CHECK_EVERY_MS).unref()
  }

  /** Requests are queued in the order in which they arrived. */
  #refuseOverdue(): void {
    const now = performance.now()
    const firstInTime = this.#waiting.findIndex(({ until }) => until > now)
    const overdue = this.#waiting.splice(0, firstInTime < 0 ? this.#waiting.length : firstInTime)
    for (const { reject } of overdue) reject(overloaded())
    for (const batch of this.#runningReads) {
      for (const entry of batch) for (const { until, reject } of entry) if (until <= now) reject(overloaded())
    }
  }

  /** Sends at the end of the tick, when all of its requests have been read. */
  #plan(): void {
    if (this.#planned || this.#waiting.length === 0 || this.#running >= this.#limits.batches) return
    this.#planned = true
    setImmediate(() => {
      this.#planned = false
      void this.#send()
      this.#plan()
    })
  }

  async #send(): Promise<void> {
    this.#refuseOverdue()
    const batch = this.#take()
    if (batch.length === 0) return
    this.#running++
    const reads = this.#policy.duplicates === 'share'
    this.#limits.onBatch?.(reads ? 'read' : 'write', batch.flat().length)
    if (reads) this.#runningReads.add(batch)
    const until = batch.reduce((soonest, [first]) => Math.min(soonest, first.until), Number.POSITIVE_INFINITY)
    await settle(this.#perform, batch, until)
    this.#runningReads.delete(batch)
    this.#running--
    this.#plan()
  }

  #take(): Entry<Item, Outcome>[] {
    const { duplicates } = this.#policy
    const taken = new Map<string, Entry<Item, Outcome>>()
    const left: Waiting<Item, Outcome>[] = []
    for (const waiting of this.#waiting) {
      const entry = taken.get(waiting.key)
      if (entry && duplicates !== 'serialize') entry.push(waiting)
      else if (entry || taken.size >= this.#limits.items) left.push(waiting)
      else taken.set(waiting.key, [waiting])
    }
    this.#waiting = left
    const entries = [...taken.values()]
    return duplicates === 'share' ? entries : entries.sort(([one], [other]) => (one.key < other.key ? -1 : 1))
  }
}

export const runAlone = <Item, Outcome>(
  perform: Perform<Item, Outcome>,
  item: Item,
  until?: number,
): Promise<Outcome> =>
  new Promise((resolve, reject) => {
    void settle(perform, [[{ item, key: '', until: 0, resolve, reject }]], until)
  })

/**
 * Answers every request of the batch; never throws. A statement that PostgreSQL refused has changed nothing, so each
 * half is tried again until only the items that fail by themselves have failed. After a lost connection nothing is
 * repeated: the batch may have been committed.
 */
async function settle<Item, Outcome>(
  perform: Perform<Item, Outcome>,
  batch: Entry<Item, Outcome>[],
  until?: number,
): Promise<void> {
  try {
    const items = batch.map(([{ item }]) => item)
    const outcomes = await perform(items, until)
    for (const [place, entry] of batch.entries()) answer(entry, outcomes[place])
  } catch (error) {
    const inTime = until === undefined || performance.now() < until
    if (error instanceof DatabaseError && batch.length > 1 && inTime) {
      const middle = batch.length >> 1
      await settle(perform, batch.slice(0, middle), until)
      await settle(perform, batch.slice(middle), until)
      return
    }
    for (const entry of batch) for (const { reject } of entry) reject(error)
  }
}

function answer<Item, Outcome>(entry: Entry<Item, Outcome>, outcome?: () => Outcome | Promise<Outcome>): void {
  try {
    if (!outcome) throw new Error('a batch returned no outcome for one of its items')
    const read = outcome()
    for (const { resolve } of entry) resolve(read)
  } catch (error) {
    for (const { reject } of entry) reject(error)
  }
}
