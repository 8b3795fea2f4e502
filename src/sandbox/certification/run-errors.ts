import { type LocalizedText, localized } from '../../platform/lib/localized-text.ts'
import { invalidRequest, RescodeError } from '../../platform/lib/web/rescode.ts'
import type { RunRow } from './run-store.ts'

/** Why a run refuses a request. Each reason has a text, `sandbox.refusal.<reason>` in views/locales. */
export const REFUSAL_REASONS = [
  'no_run',
  'run_over',
  'not_current',
  'not_passed',
  'passed',
  'running',
  'too_many_attempts',
  'signature_first',
  'contacts_missing',
] as const
type RefusalReason = (typeof REFUSAL_REASONS)[number]

/** The run does not allow this in its present state. */
export class RunRefusal extends RescodeError {
  readonly reason: RefusalReason

  constructor(reason: RefusalReason, what: LocalizedText) {
    super(20007, { what })
    this.reason = reason
  }
}

/** Also for another partner's run, so that nobody learns that it exists. */
export const noSuchRun = (): RescodeError => invalidRequest(localized('no-run'), { status: 404 })

export const runIsOver = () => new RunRefusal('run_over', localized('run-over'))

export const notTheCurrentStep = () => new RunRefusal('not_current', localized('not-this-step'))

/** Throws if a newer run has replaced this one, or if it was accepted. */
export function requireOpen({ superseded_at, passed_at }: Pick<RunRow, 'superseded_at' | 'passed_at'>): void {
  if (superseded_at !== null) throw runIsOver()
  if (passed_at !== null) throw new RunRefusal('passed', localized('run-passed'))
}

export const stepRunning = () => new RunRefusal('running', localized('step-running'))
