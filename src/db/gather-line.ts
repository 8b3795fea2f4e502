import { DatabaseError } from 'pg'
import { Overloaded, type QueueLimits } from '../lib/turns.ts'

/** Those who wait for a batch (gather.ts), and how a batch is answered whatever becomes of it. */

export interface Meeting<Item> {
  /** What the item is about. Items of one key never meet in one batch as two: see `same`. */
  readonly key: (item: Item) => string
  /**
   * What happens to items of one key. Reads `share` one answer. Writes stay `apart`: the second waits for the first one's
   * commit, as if it had arrived a moment later; and items go in the order of their keys, so that batches of several
   * processes lock their rows in one order.
   */
  readonly same: 'share' | 'apart'
}

export interface GatherLimits extends QueueLimits {
  /** Items in one statement at most; 1 sends each request by itself. */
  readonly items: number
  /** Batches of one statement at work at the same time. */
  readonly batches: number
}

export const GATHER_LIMITS: GatherLimits = { items: 200, batches: 2, length: 1_000, waitMs: 3_000 }

interface Waiting<Item, Outcome> {
  readonly item: Item
  readonly key: string
  /** When the answer is of no use any more, on performance's clock. */
  readonly until: number
  resolve(outcome: Outcome | Promise<Outcome>): void
  reject(error: unknown): void
}

/** One item of a batch with everybody who waits for its answer. */
type Entry<Item, Outcome> = [Waiting<Item, Outcome>, ...Waiting<Item, Outcome>[]]

/**
 * What became of each item of a batch: called once each, so that an outcome that cannot be read fails alone. After `until`
 * nothing is sent any more.
 */
export type Perform<Item, Outcome> = (
  items: readonly Item[],
  until?: number,
) => Promise<readonly (() => Outcome | Promise<Outcome>)[]>

const QUEUE = 'the database'
/** How exactly deadlines are kept. Looking at each one would cost a timer a request. */
const LOOK_EVERY_MS = 100

const overdue = (): Overloaded => new Overloaded(QUEUE)

/**
 * Those who wait for one kind of batch: so many of them, and so long. Whoever has waited too long is refused, and what
 * was asked is not done. Readers are also refused while their batch is at work: nobody can tell that it was done. Writers
 * then wait for what became of it.
 */
export class Line<Item, Outcome> {
  readonly #perform: Perform<Item, Outcome>
  readonly #meeting: Meeting<Item>
  readonly #limits: GatherLimits
  #waiting: Waiting<Item, Outcome>[] = []
  readonly #reading = new Set<readonly Entry<Item, Outcome>[]>()
  #atWork = 0
  #planned = false
  #looking = false

  constructor(perform: Perform<Item, Outcome>, meeting: Meeting<Item>, limits: GatherLimits) {
    this.#perform = perform
    this.#meeting = meeting
    this.#limits = limits
  }

  join(item: Item): Promise<Outcome> {
    if (this.#waiting.length >= this.#limits.length) return Promise.reject(overdue())
    const until = performance.now() + this.#limits.waitMs
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, key: this.#meeting.key(item), until, resolve, reject })
      this.#plan()
      this.#look()
    })
  }

  #look(): void {
    if (this.#looking) return
    this.#looking = true
    setTimeout(() => {
      this.#looking = false
      this.#refuseOverdue()
      if (this.#waiting.length > 0 || this.#reading.size > 0) this.#look()
    }, LOOK_EVERY_MS).unref()
  }

  /** They stand in the order in which they came. */
  #refuseOverdue(): void {
    const now = performance.now()
    const inTime = this.#waiting.findIndex(({ until }) => until > now)
    for (const { reject } of this.#waiting.splice(0, inTime < 0 ? this.#waiting.length : inTime)) reject(overdue())
    for (const batch of this.#reading) {
      for (const entry of batch) for (const { until, reject } of entry) if (until <= now) reject(overdue())
    }
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
    this.#refuseOverdue()
    const batch = this.#take()
    if (batch.length === 0) return
    this.#atWork++
    if (this.#meeting.same === 'share') this.#reading.add(batch)
    const until = batch.reduce((soonest, [first]) => Math.min(soonest, first.until), Number.POSITIVE_INFINITY)
    await settle(this.#perform, batch, until)
    this.#reading.delete(batch)
    this.#atWork--
    this.#plan()
  }

  #take(): Entry<Item, Outcome>[] {
    const { same } = this.#meeting
    const taken = new Map<string, Entry<Item, Outcome>>()
    const left: Waiting<Item, Outcome>[] = []
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

/** Each item by itself and at once. */
export const alone = <Item, Outcome>(perform: Perform<Item, Outcome>, item: Item, until?: number): Promise<Outcome> =>
  new Promise((resolve, reject) => {
    void settle(perform, [[{ item, key: '', until: 0, resolve, reject }]], until)
  })

/**
 * Answers everybody in the batch; never throws. What the database refused has changed nothing, so each half is tried
 * again by itself until those are left alone that fail by themselves, or nobody waits any more. A lost connection is different: the batch may
 * have been committed, so it is not repeated, and nobody is told a success.
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
    if (!outcome) throw new Error('a batch says nothing of one of its items')
    const read = outcome()
    for (const { resolve } of entry) resolve(read)
  } catch (error) {
    for (const { reject } of entry) reject(error)
  }
}
