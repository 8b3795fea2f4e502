import type { Deps } from '../../../platform/deps.ts'
import type { Translate } from '../../../platform/lib/web/locale.ts'
import { acceptanceOf, failedChecksOf, showRun } from '../../certification/index.ts'
import type { Finding } from '../../checks/index.ts'
import { reportOfRun } from '../../reports/index.ts'
import { reportUrl } from '../accept-run.ts'
import {
  type AcceptanceAnswer,
  type AttemptAnswer,
  acceptanceAnswer,
  findingAnswer,
  type RunSummary,
  runAnswer,
  type StepAnswer,
} from './answer.ts'

export interface FailedCheck extends Omit<Finding, 'passed' | 'level' | 'expected' | 'actual'> {
  readonly expected?: string
  readonly actual?: string
  readonly text: string
  /** A warning does not fail the step. */
  readonly level: 'error' | 'warning'
}

export interface ReportedAttempt extends AttemptAnswer {
  /** Null while it is being made. */
  readonly duration_ms: number | null
  readonly failed_checks: readonly FailedCheck[]
}

export interface ReportedStep extends Omit<StepAnswer, 'attempts'> {
  readonly attempts: readonly ReportedAttempt[]
}

/** A run with every attempt and every check that failed in it, and what the acceptance check says. */
export interface RunReport extends RunSummary {
  readonly acceptance: AcceptanceAnswer
  readonly steps: readonly ReportedStep[]
  /** The signed report; null until the run has passed. */
  readonly signed_report: SignedReportAnswer | null
}

interface SignedReportAnswer {
  /** Where everybody who knows the address can verify it. */
  readonly url: string
  /** The text that is signed. */
  readonly content: string
  /** Ed25519, base64url; `key_id` is `kid` at /sandbox/report-key. */
  readonly signature: string
  readonly key_id: string
}

export async function reportRun(deps: Deps, partnerId: bigint, runId: string, t: Translate): Promise<RunReport> {
  const view = await showRun(deps, partnerId, runId)
  const failed = new Map<string, FailedCheck[]>()
  for (const { attempt_id, data } of await failedChecksOf(deps.db, runId)) {
    const { passed: _, ...finding } = data
    const known = failed.get(attempt_id) ?? []
    failed.set(attempt_id, [...known, findingAnswer(finding, t)])
  }
  const { steps, ...run } = runAnswer(view, t)
  const signed = await reportOfRun(deps, runId)
  return {
    ...run,
    acceptance: acceptanceAnswer(await acceptanceOf(deps, view)),
    steps: steps.map((step) => ({
      ...step,
      attempts: step.attempts.map((attempt) => ({
        ...attempt,
        duration_ms: attempt.ended_at && attempt.ended_at.getTime() - attempt.started_at.getTime(),
        failed_checks: failed.get(attempt.attempt_id) ?? [],
      })),
    })),
    signed_report: signed
      ? {
          url: reportUrl(deps, signed.report_id),
          content: signed.content,
          signature: signed.signature,
          key_id: signed.key_id,
        }
      : null,
  }
}
