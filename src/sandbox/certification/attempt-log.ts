import { masker } from '../../platform/lib/crypto/masking.ts'
import { type Detail, type LocalizedText, withValues } from '../../platform/lib/localized-text.ts'
import { cutTo } from '../../platform/lib/storable.ts'
import type { CallCause } from '../../ticketing/partner-calls/index.ts'
import { type PartnerWithSecrets, secretTexts } from '../../ticketing/partners/index.ts'
import { type CheckId, type CommonCheck, docOfAnswer, type ExpectedChecks, type Finding } from '../checks/index.ts'
import type { Choice } from '../test-plan/index.ts'
import { appendEvent } from './attempt-store.ts'
import type { LogEntry } from './event.ts'
import type { RunDeps } from './running-attempts.ts'

/**
 * The attempt was ended from outside: by a new run, by *Stop waiting*, or because its process shut down or looked dead.
 */
export class AttemptInterrupted extends Error {
  override readonly name = 'AttemptInterrupted'
}

/** A check failed that the rest of the step depends on; it is already in the log. */
export class StepFailed extends Error {
  override readonly name: string = 'StepFailed'
}

/** A prerequisite of the step is missing, so nothing was tested; the failed check is already in the log. */
export class NothingTested extends StepFailed {
  override readonly name = 'NothingTested'
}

/** The fixed facts of an attempt at a step. */
export interface Attempt {
  readonly deps: RunDeps
  readonly partner: PartnerWithSecrets
  readonly runId: string
  readonly attemptId: string
  /** 1, 2, … at this step. */
  readonly number: number
  readonly choice: Choice
  readonly expects: ExpectedChecks
  /** Failed checks count as warnings only. */
  readonly advisory: boolean
  readonly startedAt: Date
  /** Recorded with each call that the attempt makes. */
  readonly cause: CallCause
  /** Seconds that a step waits for a notice. */
  readonly noticeTimeoutS: number
  readonly signal: AbortSignal
}

/** Details of a finding. `level` defaults to the one that the step declares in `expects`. */
type Details = Omit<Finding, 'id' | 'passed'>

/**
 * The log of a running attempt. `Own`: the step's checks besides the common ones. Writing throws AttemptInterrupted once the
 * attempt has ended.
 */
export interface AttemptLog<Own extends CheckId = CheckId> {
  append(entry: LogEntry): Promise<void>
  /** Logs a check and returns whether it passed. */
  readonly check: (id: Own | CommonCheck, passed: boolean, details?: Details) => Promise<boolean>
  /** Like `check`, but throws StepFailed when it does not pass. */
  readonly require: (id: Own | CommonCheck, passed: boolean, details?: Details) => Promise<void>
  /** Returns what an earlier step produced; throws NothingTested if it is undefined. */
  requireEarlier<Result>(result: Result | undefined): Promise<Result>
  /** At least one check was made, and none of level `error` failed. */
  hasPassed(): boolean
  /** Marks the end of the preparations: an advisory step that stops before this has tested nothing. */
  beginTest(): void
  hasBegunTest(): boolean
  /** Masks the partner's secrets in a text. */
  mask(text: string): string
  /** Masks the values of a text and truncates long ones. */
  maskText(text: LocalizedText): LocalizedText
}

/** Longer values are truncated: Traffic has the full messages. */
const MAX_VALUE_LENGTH = 500

const truncated = (text: string): string =>
  text.length > MAX_VALUE_LENGTH ? `${cutTo(text, MAX_VALUE_LENGTH)}…` : text

export function openAttemptLog({ deps, partner, attemptId, expects, advisory, signal }: Attempt): AttemptLog {
  const mask = masker(secretTexts(partner))
  const maskDetail = <Of extends Detail>(detail: Of): Of => withValues(detail, (value) => truncated(mask(value)))
  let checked = 0
  let hasBegun = false
  let failed = 0
  /** The interface that was called last; none after a notice. */
  let called: string | undefined
  const docOf = (path?: string) => (called && path?.startsWith('body') ? docOfAnswer(called, path) : undefined)

  const log: AttemptLog = {
    append: async (entry) => {
      if (entry.kind === 'calling') called = entry.data.interface
      if (entry.kind === 'notice') called = undefined
      if (signal.aborted) throw new AttemptInterrupted()
      if (!(await appendEvent(deps.db, attemptId, entry, deps.clock.now()))) throw new AttemptInterrupted()
    },
    check: async (id, passed, { level = expects[id], problem, ...given } = {}) => {
      const doc = given.doc ?? docOf(given.path)
      const details = { ...given, ...(doc && { doc }) }
      const isWarning = advisory || level === 'warning'
      // Details quote the partner's messages, which may contain secrets.
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
    requireEarlier: async (result) => {
      if (result !== undefined) return result
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
