import { type FailureRow, NamedFailure } from './failure.ts'
import { Refusal } from './web/rescode.ts'

/** There is more work than can be done in time. Nothing of the request was done. */
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

export interface TurnsOptions extends QueueLimits {
  /** The name of the resource, for the log. */
  readonly name: string
  /** How much is done at once. */
  readonly most: number
  /** Each turn here also takes a turn there: these queues share a limit. */
  readonly within?: Turns | undefined
}

interface Waiting {
  readonly until: number
  begin(): void
  refuse(): void
}

/**
 * Limits how much work runs at once, how much may wait, and how long. What exceeds this is refused with Overloaded
 * before it starts; work that has started is never interrupted.
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

  /** Work that has waited too long is refused at that moment, not when its turn comes. */
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

const LONG_READ_RETRY_S = 30
const LONG_READ_RUNNING: FailureRow = {
  rescode: 20003,
  status: 429,
  message: 'Another count or verification is being done here, one at a time; try again when it is over',
}
const withLongRead = new WeakSet<object>()

/**
 * Reads that an operator asks for and that go through whole tables: one at a time for each `ofProcess` (its config), so
 * that they never hold all connections of operators. A further one is refused at once, with 429.
 */
export async function longRead<Result>(ofProcess: object, work: () => Promise<Result>): Promise<Result> {
  if (withLongRead.has(ofProcess)) {
    const facts = { retryAfterS: LONG_READ_RETRY_S, detail: 'a long read is being done' }
    throw new NamedFailure('long_read_running', LONG_READ_RUNNING, facts)
  }
  withLongRead.add(ofProcess)
  try {
    return await work()
  } finally {
    withLongRead.delete(ofProcess)
  }
}
