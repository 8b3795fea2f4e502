import { DatabaseError } from 'pg'

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

export interface GatherLimits {
  /** Items in one statement at most; 1 sends each request by itself. */
  readonly items: number
  /** Batches of one statement at work at the same time. */
  readonly batches: number
}

export const GATHER_LIMITS: GatherLimits = { items: 200, batches: 2 }

interface Waiting<Item, Outcome> {
  readonly item: Item
  readonly key: string
  resolve(outcome: Outcome | Promise<Outcome>): void
  reject(error: unknown): void
}

/** One item of a batch with everybody who waits for its answer. */
type Entry<Item, Outcome> = [Waiting<Item, Outcome>, ...Waiting<Item, Outcome>[]]

/** What became of each item of a batch: called once each, so that an outcome that cannot be read fails alone. */
export type Perform<Item, Outcome> = (items: readonly Item[]) => Promise<readonly (() => Outcome | Promise<Outcome>)[]>

/** Those who wait for one kind of batch. */
export class Line<Item, Outcome> {
  readonly #perform: Perform<Item, Outcome>
  readonly #meeting: Meeting<Item>
  readonly #limits: GatherLimits
  #waiting: Waiting<Item, Outcome>[] = []
  #atWork = 0
  #planned = false

  constructor(perform: Perform<Item, Outcome>, meeting: Meeting<Item>, limits: GatherLimits) {
    this.#perform = perform
    this.#meeting = meeting
    this.#limits = limits
  }

  join(item: Item): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, key: this.#meeting.key(item), resolve, reject })
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
    await settle(this.#perform, this.#take())
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
export const alone = <Item, Outcome>(perform: Perform<Item, Outcome>, item: Item): Promise<Outcome> =>
  new Promise((resolve, reject) => {
    void settle(perform, [[{ item, key: '', resolve, reject }]])
  })

/**
 * Answers everybody in the batch; never throws. What the database refused has changed nothing, so each half is tried
 * again by itself until those are left alone that fail by themselves. A lost connection is different: the batch may
 * have been committed, so it is not repeated, and nobody is told a success.
 */
async function settle<Item, Outcome>(perform: Perform<Item, Outcome>, batch: Entry<Item, Outcome>[]): Promise<void> {
  try {
    const outcomes = await perform(batch.map(([{ item }]) => item))
    for (const [place, entry] of batch.entries()) answer(entry, outcomes[place])
  } catch (error) {
    if (error instanceof DatabaseError && batch.length > 1) {
      const middle = batch.length >> 1
      await settle(perform, batch.slice(0, middle))
      await settle(perform, batch.slice(middle))
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
