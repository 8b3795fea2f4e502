import type { Deps } from '../deps.ts'
import { masker } from '../lib/crypto/masking.ts'
import { type PartnerWithSecrets, secretTexts } from '../registry/partner.ts'
import { appendEvent } from './attempt-store.ts'
import { type CheckId, levelOf } from './checks.ts'
import type { Choice } from './choice.ts'
import type { Finding, Happening } from './event.ts'

/** The attempt has been ended from outside: by a re-test, or because its process was taken for dead. */
export class AttemptOver extends Error {
  override readonly name = 'AttemptOver'
}

/** A step cannot go on after a check that failed; what was found stands in the log already. */
export class StepFailed extends Error {
  override readonly name = 'StepFailed'
}

export interface Stage {
  readonly deps: Deps
  readonly partner: PartnerWithSecrets
  readonly runId: string
  readonly attemptId: string
  readonly choice: Choice
  readonly startedAt: Date
  /** Seconds that a step waits for a notice. */
  readonly patienceS: number
  readonly signal: AbortSignal
}

/** Where a finding was made and what it was about. */
type Details = Omit<Finding, 'id' | 'passed'>

/** What is longer is cut: the whole of what a partner said stands in the traffic. */
const LONGEST = 500

/** The log of an attempt while it is made; it knows whether all checks have passed so far. */
export class AttemptLog {
  protected readonly stage: Stage
  /** Replaces the partner's secrets. */
  protected readonly mask: (text: string) => string
  #checked = 0
  #failed = 0

  constructor(stage: Stage) {
    this.stage = stage
    this.mask = masker(secretTexts(stage.partner))
  }

  get deps(): Deps {
    return this.stage.deps
  }

  get partner(): PartnerWithSecrets {
    return this.stage.partner
  }

  get choice(): Choice {
    return this.stage.choice
  }

  get passed(): boolean {
    return this.#checked > 0 && this.#failed === 0
  }

  protected async tell(happening: Happening): Promise<void> {
    const { deps, attemptId, signal } = this.stage
    if (signal.aborted) throw new AttemptOver()
    if (!(await appendEvent(deps.db, attemptId, happening, deps.clock.now()))) throw new AttemptOver()
  }

  /** Leaves a check in the log and says whether it passed. */
  async check(id: CheckId, passed: boolean, details: Details = {}): Promise<boolean> {
    await this.tell({ kind: 'check', data: { id, passed, ...this.#tellable(details) } })
    this.#checked++
    if (!passed && levelOf(id) === 'error') this.#failed++
    return passed
  }

  /** Much of it comes from the partner's answer, as it was read: secrets in it too. */
  #tellable(details: Details): Details {
    const cut = (text: string): string => (text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text)
    return Object.fromEntries(Object.entries(details).map(([name, text]) => [name, cut(this.mask(text))]))
  }

  /** A check without which the step cannot go on. */
  async require(id: CheckId, passed: boolean, details: Details = {}): Promise<void> {
    if (!(await this.check(id, passed, details))) throw new StepFailed()
  }

  protected async requireEarlier(made: boolean): Promise<void> {
    if (!made) await this.require('earlier-step', false)
  }
}
