import { masker } from '../../platform/lib/crypto/masking.ts'
import { type Detail, type LocalizedText, withValues } from '../../platform/lib/localized-text.ts'
import { cutTo } from '../../platform/lib/storable.ts'
import type { CallCause } from '../../ticketing/partner-calls/index.ts'
import { type PartnerWithSecrets, secretTexts } from '../../ticketing/partners/index.ts'
import type { CheckId, CommonCheck, ExpectedChecks, Finding } from '../checks/index.ts'
import type { Choice } from '../test-plan/index.ts'
import { appendEvent } from './attempt-store.ts'
import type { LogEntry } from './event.ts'
import type { RunDeps } from './running-attempts.ts'

/** The attempt was ended from outside: by a new run, by *Stop waiting*, or because its process stops or seemed dead. */
export class AttemptOver extends Error {
  override readonly name = 'AttemptOver'
}

/** A check failed without which the step cannot go on; the log has it already. */
export class StepFailed extends Error {
  override readonly name: string = 'StepFailed'
}

/** What the step needs first is missing, so that it could not test anything; the log has it already. */
export class NothingTested extends StepFailed {
  override readonly name = 'NothingTested'
}

/** What an attempt at a step is about. */
export interface Attempt {
  readonly deps: RunDeps
  readonly partner: PartnerWithSecrets
  readonly runId: string
  readonly attemptId: string
  /** 1, 2, … at this step. */
  readonly number: number
  readonly choice: Choice
  readonly expects: ExpectedChecks
  /** Every failed check is a warning. */
  readonly advisory: boolean
  readonly startedAt: Date
  /** Why the attempt makes its calls. */
  readonly cause: CallCause
  /** Seconds that a step waits for a notice. */
  readonly noticeTimeoutS: number
  readonly signal: AbortSignal
}

/** Where a finding was made and what it was about. Without a level it has the one that the step expects. */
type Details = Omit<Finding, 'id' | 'passed'>

/** A running attempt's log; `Own`: the step's checks besides the common ones. AttemptOver once ended from outside. */
export interface AttemptLog<Own extends CheckId = CheckId> {
  append(entry: LogEntry): Promise<void>
  /** Writes a check into the log and returns whether it passed. */
  readonly check: (id: Own | CommonCheck, passed: boolean, details?: Details) => Promise<boolean>
  /** A check without which the step cannot go on: throws StepFailed. */
  readonly require: (id: Own | CommonCheck, passed: boolean, details?: Details) => Promise<void>
  /** What an earlier step has made; throws NothingTested when it is not there. */
  requireEarlier<Made>(made: Made | undefined): Promise<Made>
  /** At least one check was made, and none of level `error` has failed. */
  hasPassed(): boolean
  /** What the step is there for begins now: one that only warns, and ends before this, has tested nothing. */
  beginTest(): void
  hasBegunTest(): boolean
  /** Replaces the partner's secrets. */
  mask(text: string): string
  /** Masks the values of a detail, of which long ones are cut. */
  maskText(said: LocalizedText): LocalizedText
}

/** Longer texts are cut: Traffic has the whole of what a partner said. */
const LONGEST = 500

const cut = (text: string): string => (text.length > LONGEST ? `${cutTo(text, LONGEST)}…` : text)

export function openAttemptLog({ deps, partner, attemptId, expects, advisory, signal }: Attempt): AttemptLog {
  const mask = masker(secretTexts(partner))
  const maskDetail = <Of extends Detail>(detail: Of): Of => withValues(detail, (value) => cut(mask(value)))
  let checked = 0
  let hasBegun = false
  let failed = 0

  const log: AttemptLog = {
    append: async (entry) => {
      if (signal.aborted) throw new AttemptOver()
      if (!(await appendEvent(deps.db, attemptId, entry, deps.clock.now()))) throw new AttemptOver()
    },
    check: async (id, passed, { level = expects[id], problem, ...details } = {}) => {
      const isWarning = advisory || level === 'warning'
      // Much of it was said by the partner, secrets included.
      const masked = Object.fromEntries(Object.entries(details).map(([name, detail]) => [name, maskDetail(detail)]))
      const isProblem = problem ? { problem } : {}
      await log.append({
        kind: 'check',
        data: { id, passed, ...(isWarning && { level: 'warning' }), ...isProblem, ...masked },
      })
      checked++
      if (!passed && !isWarning) failed++
      return passed
    },
    require: async (id, passed, details) => {
      if (!(await log.check(id, passed, details))) throw new StepFailed()
    },
    requireEarlier: async (found) => {
      if (found !== undefined) return found
      await log.check('earlier-step', false)
      throw new NothingTested()
    },
    hasPassed: () => checked > 0 && failed === 0,
    beginTest: () => {
      hasBegun = true
    },
    hasBegunTest: () => hasBegun,
    mask,
    maskText: maskDetail,
  }
  return log
}
