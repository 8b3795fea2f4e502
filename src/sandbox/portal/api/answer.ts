import type { OutputOf } from '../../../platform/lib/json/input.ts'
import type { LocalizedText } from '../../../platform/lib/localized-text.ts'
import type { Translate } from '../../../platform/lib/web/locale.ts'
import {
  type checkAcceptance,
  progressOfRun,
  type RunEvent,
  type RunProgress,
  type showRun,
  type Waiting,
} from '../../certification/index.ts'
import type { Finding } from '../../checks/index.ts'
import type { OwnContacts } from '../contacts.ts'
import type { SellerProgress } from '../seller-progress.ts'
import { checkText, detailText, localizedText, stepName } from '../texts.ts'

/** Answers of the headless API. Names are those of the tables' columns; times are ISO 8601 in UTC. */

/** `number`: 1, 2, … of this partner; `last_seq`: the last line of its log. */
export function runSummary(standing: RunProgress) {
  const { partner_id: _partner, steps: _steps, current_step, ...run } = standing.run
  return {
    ...run,
    state: standing.state,
    /** Null after the last step, and in a run that a newer one has replaced. */
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
  /** Outcome of its last attempt that has ended; `open` before the first. */
  state,
  /** The run may go on after it: it has passed, or it only warns and could not test anything. */
  done,
  running,
  current,
  /** Each with the number of its checks of level `warning` that have failed. */
  attempts: attempts.map(({ run_id: _run, step_id: _step, ...attempt }) => attempt),
})

/** A finding with the text and the level of its check; its details in the reader's language. */
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
  /** The notice that a step waits for as a shell script. */
  readonly curlOf: (waiting: Waiting) => string | undefined
}

/** A line of the log; that of a check also has its text and level, that of a wait the notice as cURL. */
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
  /** Steps that have not passed yet. */
  open_steps: openSteps,
  /** Orders of the run that the platform's records show as consumed, and as refunded. */
  consumed: proof.consumed.map(BigInt),
  refunded: proof.refunded.map(BigInt),
  /** `product`, `business`: contacts that acceptance needs and the partner has yet to name. */
  missing_contacts: missingContacts,
})

export const contactsAnswer = ({ contacts, missing }: OwnContacts) => ({ contacts, missing_contacts: missing })

/** Where the partner stands; `run_id` is null before its first run, `accepted_run_id` until one was accepted. */
export const standingAnswer = ({ state, present, accepted }: SellerProgress) => ({
  state,
  run_id: present?.run_id ?? null,
  accepted_run_id: accepted?.run_id ?? null,
})
