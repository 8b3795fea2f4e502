/** There is more to do than can be done in time. Nothing was done of what was asked. */
export class Overloaded extends Error {
  override readonly name = 'Overloaded'
  constructor(queue: string) {
    // An answer to one caller of many, not a fault: where it was thrown interests nobody, and recording that costs.
    const { stackTraceLimit } = Error
    Error.stackTraceLimit = 0
    super(`too much waits for ${queue}`)
    Error.stackTraceLimit = stackTraceLimit
  }
}

/** How many may wait, and how long. */
export interface QueueLimits {
  readonly length: number
  readonly waitMs: number
}

export interface TurnsOptions extends QueueLimits {
  /** What is waited for, for the log. */
  readonly name: string
  /** How much is done at once. */
  readonly most: number
  /** What takes a turn here takes one there too: these share with others. */
  readonly within?: Turns | undefined
}

interface Waiting {
  readonly until: number
  begin(): void
  refuse(): void
}

/**
 * Work takes turns: so much of it is done at once, so much may wait, and so long. What is beyond that is refused with
 * Overloaded before any of it was begun; what has begun is never broken off.
 */
export class Turns {
  readonly #options: TurnsOptions
  readonly #waiting: Waiting[] = []
  #atWork = 0
  #timer: NodeJS.Timeout | undefined

  constructor(options: TurnsOptions) {
    this.#options = options
  }

  get waiting(): number {
    return this.#waiting.length
  }

  /** `until`, on performance's clock: when the work is of no use any more; by default `waitMs` from now. */
  async run<Result>(work: () => Promise<Result>, until = performance.now() + this.#options.waitMs): Promise<Result> {
    const { most, within } = this.#options
    if (this.#atWork < most) this.#atWork++
    else await this.#turn(until)
    try {
      return await (within ? within.run(work, until) : work())
    } finally {
      this.#next()
    }
  }

  #turn(until: number): Promise<void> {
    const { name, length } = this.#options
    return new Promise((begin, reject) => {
      const refuse = () => reject(new Overloaded(name))
      if (this.#waiting.length >= length) return refuse()
      this.#waiting.push({ until, begin, refuse })
      this.#watch()
    })
  }

  /** Hands the turn on, or gives it back. */
  #next(): void {
    const now = performance.now()
    let next = this.#waiting.shift()
    while (next && next.until <= now) {
      next.refuse()
      next = this.#waiting.shift()
    }
    if (next) next.begin()
    else this.#atWork--
  }

  /** Whoever has waited too long is told so then, not when a turn comes. */
  #watch(): void {
    if (this.#timer !== undefined || this.#waiting.length === 0) return
    const soonest = this.#waiting.reduce((least, { until }) => Math.min(least, until), Number.POSITIVE_INFINITY)
    this.#timer = setTimeout(
      () => {
        this.#timer = undefined
        const now = performance.now()
        const late = this.#waiting.filter(({ until }) => until <= now)
        for (const one of late) {
          this.#waiting.splice(this.#waiting.indexOf(one), 1)
          one.refuse()
        }
        this.#watch()
      },
      Math.max(1, Math.ceil(soonest - performance.now())),
    ).unref()
  }
}
