import { MAX_PROBLEMS } from '../../platform/lib/json/shape.ts'
import { maskedReason } from '../../platform/lib/masked-reason.ts'
import type { CallDeps, CallProblem } from '../partner-calls/index.ts'
import {
  clearDue,
  type DuePull,
  giveUpDue,
  nextDue,
  postponeDue,
  retryGivenUp,
  takeUnreportedProblems,
} from './due-store.ts'
import { entryProblemsText } from './entries.ts'
import { hasLevels } from './price-store.ts'
import { pullPrices } from './pull-prices.ts'
import { pullProduct } from './pull-product.ts'

const CONCURRENCY = 2
const BATCH = 50
/** A run stops after this many failed calls: the partner seems to be down. */
const MAX_FAILURES = 3
/** A run ends after this long, and what is left is queued behind the jobs of other partners. */
const LONGEST_RUN_MS = 30_000

export interface PullRun {
  readonly signal: AbortSignal
  /** The functions that the partner chose in the sandbox; undefined if it never chose, so every pull is tried. */
  readonly chosen?: ReadonlySet<string> | undefined
}

/** The state of a partner's pulls after a run. */
export interface PullRunReport {
  /** Pulls that were done or given up. */
  readonly settled: number
  /** Whether some are still due. */
  readonly left: boolean
  readonly failure: string | null
  /** Pulls that were given up and not reported yet; they are reported when nothing is due any more. */
  readonly problems: string | null
}

/**
 * Pulls what is due from a partner, oldest first. Pulls for functions that the partner has not chosen are dropped
 * without a call. A run that finds nothing due was started by an operator, and retries the pulls that were given up.
 */
export async function pullDue(deps: CallDeps, partnerId: bigint, options: PullRun): Promise<PullRunReport> {
  const run = new DuePulls(deps, partnerId, options)
  let batch = await run.next()
  if (batch.length === 0 && (await retryGivenUp(deps.db, partnerId)) > 0) batch = await run.next()
  while (batch.length > 0 && !run.isOver) {
    await run.work(batch)
    batch = run.isOver ? batch : await run.next()
  }
  const left = (await nextDue(deps.db, partnerId, 1)).length > 0
  const problems = left ? [] : await takeUnreportedProblems(deps.db, partnerId)
  const shown = [...problems.slice(0, MAX_PROBLEMS), ...(problems.length > MAX_PROBLEMS ? ['and more'] : [])]
  return { settled: run.settled, left, failure: run.failure, problems: shown.join('; ') || null }
}

class DuePulls {
  readonly #deps: CallDeps
  readonly #partnerId: bigint
  readonly #options: PullRun
  readonly #end = performance.now() + LONGEST_RUN_MS
  readonly #failed = new Set<string>()
  settled = 0
  failure: string | null = null
  #isBreakerOpen = false

  constructor(deps: CallDeps, partnerId: bigint, options: PullRun) {
    this.#deps = deps
    this.#partnerId = partnerId
    this.#options = options
  }

  get isOver(): boolean {
    const isDown = this.#isBreakerOpen || this.#failed.size >= MAX_FAILURES
    return isDown || this.#options.signal.aborted || performance.now() >= this.#end
  }

  /** Due pulls that have not failed in this run. */
  async next(): Promise<DuePull[]> {
    const due = await nextDue(this.#deps.db, this.#partnerId, BATCH)
    return due.filter((pull) => !this.#failed.has(nameOf(pull)))
  }

  async work(batch: readonly DuePull[]): Promise<void> {
    const waiting = [...batch]
    const worker = async () => {
      for (let pull = waiting.shift(); pull && !this.isOver; pull = waiting.shift()) {
        await this.#pull(pull).catch((error: unknown) => {
          waiting.length = 0
          throw error
        })
      }
    }
    // All of them, so that no call is under way after a failure.
    const ends = await Promise.allSettled(Array.from({ length: CONCURRENCY }, worker))
    for (const end of ends) if (end.status === 'rejected') throw end.reason
  }

  async #pull(pull: DuePull): Promise<void> {
    const { db } = this.#deps
    const product = { partner_id: this.#partnerId, partner_deal_id: pull.partner_deal_id }
    const name = await this.#interfaceFor(pull)
    if (!this.#isChosen(name)) {
      await clearDue(db, this.#partnerId, pull)
      this.settled++
      return
    }
    const options = { background: true, cause: { kind: 'notice', ref: pull.notice } } as const
    const { failure, problems } =
      name === 'product-pull'
        ? await pullProduct(this.#deps, product, options)
        : await pullPrices(this.#deps, { ...product, level: name === 'level-price-calendar' }, options)
    if (failure) return this.#fail(pull, failure)
    if (problems.length > 0) await giveUpDue(db, this.#partnerId, pull, entryProblemsText(problems))
    else await clearDue(db, this.#partnerId, pull)
    this.settled++
  }

  /** Prices come from the kind of calendar that was pulled before, else from the only one that is chosen. */
  async #interfaceFor({ partner_deal_id: partnerDealId, kind }: DuePull) {
    if (kind === 'product') return 'product-pull'
    const known = await hasLevels(this.#deps.db, { partnerId: this.#partnerId, partnerDealId })
    return known || !this.#isChosen('price-calendar') ? 'level-price-calendar' : 'price-calendar'
  }

  /** A function has the name of the interface that it calls. */
  #isChosen(name: string): boolean {
    return this.#options.chosen?.has(name) ?? true
  }

  async #fail(pull: DuePull, { kind, detail }: CallProblem): Promise<void> {
    this.#failed.add(nameOf(pull))
    this.failure ??= `${kind}: ${maskedReason(detail)}`
    // The next call would not be made either.
    this.#isBreakerOpen ||= kind === 'breaker'
    if (kind !== 'breaker') await postponeDue(this.#deps.db, this.#partnerId, pull, this.#deps.clock.now())
  }
}

const nameOf = ({ partner_deal_id, kind }: DuePull): string => `${kind} ${partner_deal_id}`
