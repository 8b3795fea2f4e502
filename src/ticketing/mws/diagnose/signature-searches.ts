import type { Piscina } from 'piscina'
import { ROOT } from '../../../platform/lib/root.ts'
import type { Diagnosis } from './index.ts'
import type searchFor from './search-worker.ts'
import type { SearchTask } from './search-worker.ts'

/** Whose budget a search is of: of all who name a clientId, or of signed-in partners. */
export type SearchBudget = 'caller' | 'partner'

interface Share {
  /** Milliseconds of searching in a minute. */
  readonly msPerMinute: number
  /** Searches that run or wait at once. */
  readonly atOnce: number
}

/** Searches for strangers do not reduce those for signed-in partners. Together they use at most half a processor. */
const SHARES: Readonly<Record<SearchBudget, Share>> = {
  caller: { msPerMinute: 10_000, atOnce: 5 },
  partner: { msPerMinute: 20_000, atOnce: 15 },
}
/** A search takes 30 to 100 ms; starting its thread some hundreds, and seconds on a machine that is busy. */
const PATIENCE_MS = 10_000
const IDLE_MS = 60_000
const MINUTE_MS = 60_000

/** Threads run JavaScript only, so the built file is taken even where the sources themselves run (in tests). */
const FILE = new URL('.build/search-worker.js', ROOT).href

type Thread = Piscina<SearchTask, ReturnType<typeof searchFor>>

interface Used {
  atOnce: number
  ms: number
  /** By performance.now(). */
  minuteEndsAt: number
}

/**
 * Searches for the mistakes in a signature, one after the other in one thread beside the one that answers requests. The
 * thread starts with the first search and ends when there was none for a minute. Made once a process: one budget.
 */
export class SignatureSearches {
  readonly #shares: Readonly<Record<SearchBudget, Share>>
  readonly #patienceMs: number
  readonly #file: string
  readonly #used: Readonly<Record<SearchBudget, Used>> = {
    caller: { atOnce: 0, ms: 0, minuteEndsAt: 0 },
    partner: { atOnce: 0, ms: 0, minuteEndsAt: 0 },
  }
  #thread: Promise<Thread> | undefined

  constructor(shares: Readonly<Record<SearchBudget, Share>> = SHARES, patienceMs = PATIENCE_MS, file = FILE) {
    this.#shares = shares
    this.#patienceMs = patienceMs
    this.#file = file
  }

  #isOpen(budget: SearchBudget): boolean {
    const used = this.#usedBy(budget)
    const { atOnce, msPerMinute } = this.#shares[budget]
    return used.atOnce < atOnce && used.ms < msPerMinute
  }

  /** Undefined, immediately, if that budget is used up; also if the search took too long or was stopped. */
  async run(budget: SearchBudget, search: SearchTask): Promise<Diagnosis | undefined> {
    if (!this.#isOpen(budget)) return undefined
    const used = this.#usedBy(budget)
    used.atOnce++
    const began = performance.now()
    const patience = AbortSignal.timeout(this.#patienceMs)
    const thread = this.#open()
    try {
      const { diagnosis, ms } = await (await thread).run(search, { signal: patience })
      used.ms += ms
      return diagnosis
    } catch (error) {
      used.ms += performance.now() - began
      if (patience.aborted || thread !== this.#thread) return undefined
      this.#giveUp(thread)
      throw error
    } finally {
      used.atOnce--
    }
  }

  /** Ends the thread, and with it what is being searched for. The next search starts another one. */
  async close(): Promise<void> {
    const thread = this.#thread
    this.#thread = undefined
    await (await thread)?.destroy()
  }

  /** After a thread has failed: pending searches find nothing, and the next search starts a new thread. */
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
  const { Piscina } = await import('piscina') // many processes never search
  return new Piscina({
    filename,
    minThreads: 0,
    maxThreads: 1,
    concurrentTasksPerWorker: 1,
    idleTimeout: IDLE_MS,
    // The thread runs the search and no other code of ours.
    env: {},
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: 64 },
  })
}
