import type { Piscina } from 'piscina'
import { ROOT } from '../../../platform/lib/root.ts'
import type { Diagnosis } from './index.ts'
import type searchFor from './search-worker.ts'
import type { SearchTask } from './search-worker.ts'

/** The budget of a search: that of callers, whoever they are, or that of signed-in partners. */
export type SearchBudget = 'caller' | 'partner'

interface Share {
  /** Milliseconds of searching a minute. */
  readonly msPerMinute: number
  /** Searches that may run or wait at once. */
  readonly atOnce: number
}

/** Strangers cannot use up the searches of signed-in partners. Together both use at most half a processor. */
const SHARES: Readonly<Record<SearchBudget, Share>> = {
  caller: { msPerMinute: 10_000, atOnce: 5 },
  partner: { msPerMinute: 20_000, atOnce: 15 },
}
/** A search takes 30 to 100 ms; starting its thread takes some hundreds, and seconds on a busy machine. */
const TIMEOUT_MS = 10_000
const IDLE_MS = 60_000
const MINUTE_MS = 60_000

/** Threads run JavaScript only, so this is the built file even in tests, which run the sources. */
const FILE = new URL('.build/search-worker.js', ROOT).href

type Thread = Piscina<SearchTask, ReturnType<typeof searchFor>>

interface Used {
  atOnce: number
  ms: number
  /** By performance.now(). */
  minuteEndsAt: number
}

/**
 * Searches for the mistakes in signatures, one at a time, in a thread beside the one that answers requests. The thread
 * starts with the first search and ends after a minute without any. Created once per process, whose budget it keeps.
 */
export class SignatureSearches {
  readonly #shares: Readonly<Record<SearchBudget, Share>>
  readonly #timeoutMs: number
  readonly #file: string
  readonly #used: Readonly<Record<SearchBudget, Used>> = {
    caller: { atOnce: 0, ms: 0, minuteEndsAt: 0 },
    partner: { atOnce: 0, ms: 0, minuteEndsAt: 0 },
  }
  #thread: Promise<Thread> | undefined

  constructor(shares: Readonly<Record<SearchBudget, Share>> = SHARES, timeoutMs = TIMEOUT_MS, file = FILE) {
    this.#shares = shares
    this.#timeoutMs = timeoutMs
    this.#file = file
  }

  /** Undefined at once if the budget is used up; also if the search takes too long or is stopped. */
  async run(budget: SearchBudget, search: SearchTask): Promise<Diagnosis | undefined> {
    const used = this.#usedBy(budget)
    const { atOnce, msPerMinute } = this.#shares[budget]
    if (used.atOnce >= atOnce || used.ms >= msPerMinute) return undefined
    used.atOnce++
    const began = performance.now()
    const timeout = AbortSignal.timeout(this.#timeoutMs)
    const thread = this.#open()
    try {
      const { diagnosis, ms } = await (await thread).run(search, { signal: timeout })
      used.ms += ms
      return diagnosis
    } catch (error) {
      used.ms += performance.now() - began
      if (timeout.aborted || thread !== this.#thread) return undefined
      this.#giveUp(thread)
      throw error
    } finally {
      used.atOnce--
    }
  }

  /** Ends the thread and its searches. The next search starts another thread. */
  async close(): Promise<void> {
    const thread = this.#thread
    this.#thread = undefined
    // A thread that could not be made has already failed its searches.
    const made = await thread?.catch(() => undefined)
    await made?.destroy()
  }

  /** Drops a thread that failed: its pending searches find nothing, and the next search starts a new one. */
  #giveUp(thread: Promise<Thread>): void {
    if (thread === this.#thread) void this.close()
  }

  #usedBy(budget: SearchBudget): Used {
    const used = this.#used[budget]
    const now = performance.now()
    if (used.minuteEndsAt <= now) {
      used.ms = 0
      used.minuteEndsAt = now + MINUTE_MS
    }
    return used
  }

  #open(): Promise<Thread> {
    if (this.#thread) return this.#thread
    const thread = startThread(this.#file)
    // An unhandled error would end the process.
    thread.then(
      (started) => started.on('error', () => this.#giveUp(thread)),
      () => {},
    )
    this.#thread = thread
    return thread
  }
}

async function startThread(filename: string): Promise<Thread> {
  const { Piscina } = await import('piscina') // most processes never search
  return new Piscina({
    filename,
    minThreads: 0,
    maxThreads: 1,
    concurrentTasksPerWorker: 1,
    idleTimeout: IDLE_MS,
    // The thread needs nothing else of ours.
    env: {},
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: 64 },
  })
}
