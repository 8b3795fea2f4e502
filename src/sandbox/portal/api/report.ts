import type { Deps } from '../../../platform/deps.ts'
import type { Translate } from '../../../platform/lib/web/locale.ts'
import { acceptanceOf, failedChecksOf, showRun } from '../../certification/index.ts'
import type { Finding } from '../../checks/index.ts'
import { reportOfRun } from '../../reports/index.ts'
import { reportUrl } from '../notify/notifications.ts'
import { acceptanceAnswer, findingAnswer, runAnswer } from './answer.ts'

export interface FailedCheck extends Omit<Finding, 'passed' | 'level' | 'expected' | 'actual'> {
  readonly expected?: string
  readonly actual?: string
  readonly text: string
  readonly level: 'error' | 'warning'
}

/** A run with all attempts, their failed checks, and the state of the acceptance check. */
export type RunReport = Awaited<ReturnType<typeof reportRun>>

export async function reportRun(deps: Deps, partnerId: bigint, runId: string, t: Translate) {
  const view = await showRun(deps, partnerId, runId)
  const failed = new Map<string, FailedCheck[]>()
  for (const { attempt_id, data } of await failedChecksOf(deps.db, runId)) {
    const { passed: _, ...finding } = data
    failed.set(attempt_id, failed.get(attempt_id) ?? [])
    failed.get(attempt_id)?.push(findingAnswer(finding, t))
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
        /** Null while it is running. */
        duration_ms: attempt.ended_at && attempt.ended_at.getTime() - attempt.started_at.getTime(),
        failed_checks: failed.get(attempt.attempt_id) ?? [],
      })),
    })),
    /** Null until the run has passed. */
    signed_report: signed
      ? {
          /** Anybody who knows the address can verify it there. */
          url: reportUrl(deps, signed.report_id),
          /** The text that is signed. */
          content: signed.content,
          /** Ed25519, base64url; `key_id` is the `kid` of the key (/sandbox/report-key). */
          signature: signed.signature,
          key_id: signed.key_id,
        }
      : null,
  }
}
