import { Refusal } from './web/rescode.ts'

/** More work has arrived than can be done in time. The refused request has changed nothing. */
export class Overloaded extends Refusal {
  override readonly name = 'Overloaded'
  constructor(queue: string) {
    super(`too many requests wait for ${queue}`)
  }
}

/** How many may wait, and how long. */
export interface QueueLimits {
  readonly length: number
  readonly waitMs: number
}

interface ConcurrencyOptions extends QueueLimits {
  /** The name of the resource, for the log. */
  readonly name: string
  readonly most: number
  /** A limit shared with other queues: work counts there too. */
  readonly within?: ConcurrencyLimit | undefined
}

type Waiting = { readonly until: number; begin(): void; refuse(): void }

/** Refuses what exceeds these limits with Overloaded before it starts; work that has started is never interrupted. */
export class ConcurrencyLimit {
  readonly #options: ConcurrencyOptions
  readonly #waiting: Waiting[] = []
  #running = 0
  #timer: NodeJS.Timeout | undefined
  /** When the timer fires. */
  #checkAt = Number.POSITIVE_INFINITY

  constructor(options: ConcurrencyOptions) {
    this.#options = options
  }

  get waiting(): number {
    return this.#waiting.length
  }

  /** `until`, by `performance.now()`: when nobody needs the work any more; by default `waitMs` from now. */
  async run<Result>(work: () => Promise<Result>, until = performance.now() + this.#options.waitMs): Promise<Result> {
    const { most, within } = this.#options
    if (this.#running < most) this.#running++
    else await this.#slot(until)
    try {
      return await (within ? within.run(work, until) : work())
    } finally {
      this.#next()
    }
  }

  #slot(until: number): Promise<void> {
    const { name, length } = this.#options
    return new Promise((begin, reject) => {
      const refuse = () => reject(new Overloaded(name))
      if (this.#waiting.length >= length) return refuse()
      this.#waiting.push({ until, begin, refuse })
      this.#watch(until)
    })
  }

  /** Gives the slot to the next in the queue, or frees it. */
  #next(): void {
    const now = performance.now()
    let next = this.#waiting.shift()
    while (next && next.until <= now) {
      next.refuse()
      next = this.#waiting.shift()
    }
    if (next) next.begin()
    else this.#running--
  }

  /** Work that has waited too long is refused at that moment, not when a slot becomes free. */
  #watch(until: number): void {
    if (until >= this.#checkAt) return
    this.#checkAt = until
    clearTimeout(this.#timer)
    const delay = Math.max(1, Math.ceil(until - performance.now()))
    this.#timer = setTimeout(() => this.#refuseOverdue(), delay).unref()
  }

  #refuseOverdue(): void {
    this.#checkAt = Number.POSITIVE_INFINITY
    const now = performance.now()
    const waiting = this.#waiting.splice(0)
    this.#waiting.push(...waiting.filter(({ until }) => until > now))
    for (const { until, refuse } of waiting) {
      if (until <= now) refuse()
      else this.#watch(until)
    }
  }
}
