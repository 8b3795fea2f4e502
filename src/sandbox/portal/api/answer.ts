import type { Deps } from '../../../platform/deps.ts'
import type { OutputOf } from '../../../platform/lib/json/input.ts'
import type { LocalizedText } from '../../../platform/lib/localized-text.ts'
import type { Translate } from '../../../platform/lib/web/locale.ts'
import {
  acceptanceOf,
  type checkAcceptance,
  failedChecksOf,
  progressOfRun,
  type RunEvent,
  type RunProgress,
  showRun,
  type Waiting,
} from '../../certification/index.ts'
import type { Finding } from '../../checks/index.ts'
import { reportOfRun } from '../../reports/index.ts'
import type { OwnContacts } from '../contacts.ts'
import { reportUrl } from '../notify/notifications.ts'
import type { SellerProgress } from '../seller-progress.ts'
import { checkText, detailText, localizedText, stepName } from '../texts.ts'

/** Responses of the headless API. Names follow the database columns; times are ISO 8601 in UTC. */

/** `number` counts the partner's runs; `last_seq` is the last line of the run's log. */
export function runSummary(progress: RunProgress) {
  const { partner_id: _partner, steps: _steps, current_step, ...run } = progress.run
  return {
    ...run,
    state: progress.state,
    /** Null after the last step, and for a run that is over. */
    current_step: run.superseded_at === null && run.passed_at === null ? current_step : null,
  }
}

export const runAnswer = (view: OutputOf<typeof showRun>, t: Translate) => ({
  ...runSummary(progressOfRun(view)),
  steps: view.steps.map((progress) => stepAnswer(progress, t)),
})

const stepAnswer = (
  { step, state, done, running, current, attempts }: OutputOf<typeof showRun>['steps'][number],
  t: Translate,
) => ({
  id: step.id,
  name: stepName(step.id, t),
  kind: step.kind,
  /** Outcome of the last ended attempt; `open` before the first. */
  state,
  /** The next step may begin: this one passed, or it is advisory and could not test anything. */
  done,
  running,
  current,
  attempts: attempts.map(({ run_id: _run, step_id: _step, ...attempt }) => attempt),
})

/** A finding with its text and level, in the reader's language. */
export const findingAnswer = <Of extends Omit<Finding, 'passed'>>(
  { level = 'error', expected, actual, ...finding }: Of,
  t: Translate,
  passed = false,
) => ({
  ...finding,
  ...(expected === undefined ? {} : { expected: detailText(expected, t) }),
  ...(actual === undefined ? {} : { actual: detailText(actual, t) }),
  text: checkText(finding.id, t, passed),
  level,
})

interface LineTexts {
  readonly t: Translate
  /** A shell script that sends the notice that a step waits for. */
  readonly curlOf: (waiting: Waiting) => string | undefined
}

/** A log line; a check also gets its text and level, a wait the cURL script. */
export function eventAnswer(event: RunEvent, { t, curlOf }: LineTexts) {
  if (event.kind === 'waiting') return { ...event, data: { ...event.data, curl: curlOf(event.data) } }
  if (event.kind === 'check') return { ...event, data: findingAnswer(event.data, t, event.data.passed) }
  if (event.kind === 'fault') return { ...event, data: { fault: localizedText(event.data.fault, t) } }
  if (event.kind === 'notice') return { ...event, data: { ...event.data, ...remarkOf(event.data, t) } }
  if (event.kind !== 'rejected' && event.kind !== 'unverified' && event.kind !== 'wrong-path') return event
  return { ...event, data: { ...event.data, reason: detailText(event.data.reason, t), ...remarkOf(event.data, t) } }
}

const remarkOf = ({ remark }: { readonly remark?: LocalizedText }, t: Translate) =>
  remark ? { remark: localizedText(remark, t) } : {}

export const acceptanceAnswer = ({ passed, openSteps, proof, missingContacts }: OutputOf<typeof checkAcceptance>) => ({
  passed,
  open_steps: openSteps,
  consumed: proof.consumed.map(BigInt),
  refunded: proof.refunded.map(BigInt),
  missing_contacts: missingContacts,
})

export const contactsAnswer = ({ contacts, missing }: OwnContacts) => ({ contacts, missing_contacts: missing })

/** `run_id` is null before the first run, `accepted_run_id` until one is accepted. */
export const sellerAnswer = ({ state, present, accepted }: SellerProgress) => ({
  state,
  run_id: present?.run_id ?? null,
  accepted_run_id: accepted?.run_id ?? null,
})

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
