import type { Deps } from '../../../platform/deps.ts'
import type { Tone } from '../../../platform/lib/action.ts'
import type { OutputOf } from '../../../platform/lib/json/input.ts'
import type { Translate } from '../../../platform/lib/web/locale.ts'
import { acceptanceOf, progressOfRun, type showRun } from '../../certification/index.ts'
import { reportOfRun } from '../../reports/index.ts'
import { type Choice, FAULTS, NO_CONDITIONS, PRODUCT_ROLES, travelDate } from '../../test-plan/index.ts'
import { type Notifications, notificationsOf } from '../notify/notifications.ts'
import { contactName, functionName, productName, stepName } from '../texts.ts'
import { NUMBERS } from './functions-form.ts'
import { faultText } from './functions-page.ts'

type StepProgress = OutputOf<typeof showRun>['steps'][number]

export const stepHref = (runId: string, stepId: string): string => `/sandbox/run/${runId}?step=${stepId}`

/** An entry in the list of steps; `shown`: the page is about this step. */
export function stepItem(progress: StepProgress, href: string, shown: boolean, t: Translate) {
  const { step, running, current } = progress
  const item = { id: step.id, name: stepName(step.id, t), href, current, shown }
  return { ...item, ...shownState(running ? 'running' : progress.state, progress.warnings, t) }
}

const STATES: Readonly<Record<StepProgress['state'] | 'running', readonly [tone: Tone, mark: string]>> = {
  passed: ['good', '✓'],
  failed: ['bad', '✗'],
  not_tested: ['warning', '!'],
  interrupted: ['warning', '!'],
  running: ['plain', '…'],
  open: ['plain', ''],
}

/** The state of a step or attempt, such as `passed with 2 warnings`. */
export function shownState(state: keyof typeof STATES, warnings: number, t: Translate) {
  const [tone, mark] = STATES[state]
  if (state !== 'passed' || warnings === 0) return { tone, word: t(`sandbox.run.${state}`), mark }
  const count = String(warnings)
  const word = warnings === 1 ? t('sandbox.run.passed_warning') : t('sandbox.run.passed_warnings', { count })
  return { tone: 'warning' as const, word, mark }
}

/** The choice of a run in words. */
export function shownChoice(choice: Choice, startedAt: Date, t: Translate) {
  const { functions, products, unit_price, buy_price, quantity, conditions = NO_CONDITIONS } = choice
  const named: (readonly [label: string, value: string | undefined])[] = [
    ...PRODUCT_ROLES.map((role) => [productName(role, t), products[role]] as const),
    [t('sandbox.choice.travel_date'), travelDate(choice, startedAt)],
    [t('sandbox.choice.unit_price'), unit_price?.toFixed(2)],
    [t('sandbox.choice.buy_price'), buy_price?.toFixed(2)],
    [t('sandbox.choice.quantity'), String(quantity)],
    ...NUMBERS.map(
      (name) => [t(`sandbox.conditions.${name}`), conditions[name] > 0 ? String(conditions[name]) : undefined] as const,
    ),
    ...FAULTS.filter((fault) => conditions[fault]).map(
      (fault) => [t('sandbox.conditions.title'), faultText(fault, t)] as const,
    ),
  ]
  return {
    functions: functions.map((id) => functionName(id, t)),
    facts: named.flatMap(([label, value]) => (value === undefined ? [] : [[label, value] as const])),
  }
}

/** The messages to the contacts and their delivery. */
export function contactMessages(runId: string, { notifications, folder }: Notifications, t: Translate) {
  return notifications.map((message) => ({
    role: contactName(message.role, t),
    channel: t(`sandbox.told.${message.channel}`),
    address: message.address,
    ...delivery(message, folder !== null && message.channel === 'mail', t),
    /** Where a form requests a retry; null unless it was given up. */
    retry: message.state === 'failed' ? `/sandbox/run/${runId}/notifications/${message.notification_id}/retry` : null,
  }))
}

/** `detail`: when it was sent, or the last error and the next attempt; a line feed marks the place of `at`. */
function delivery(
  { state, attempts, last_error, next_attempt_at, sent_at }: Notifications['notifications'][number],
  isWrittenToFile: boolean,
  t: Translate,
): { readonly tone: Tone; readonly word: string; readonly detail: string; readonly at?: string } {
  if (state === 'sent') {
    const when = sent_at ? { detail: '\n', at: sent_at.toISOString() } : { detail: '' }
    const [tone, word] = isWrittenToFile ? (['warning', 'written'] as const) : (['good', 'sent'] as const)
    return { tone, word: t(`sandbox.told.${word}`), ...when }
  }
  // A line feed would be taken for the place of `at`.
  const reason = (last_error ?? '').replaceAll('\n', ' ')
  if (state === 'failed') return { tone: 'bad', word: t('sandbox.told.failed'), detail: reason }
  if (attempts === 0) return { tone: 'plain', word: t('sandbox.told.queued'), detail: '' }
  if (reason === '') return { tone: 'plain', word: t('sandbox.told.sending'), detail: '' }
  const next = next_attempt_at ? t('sandbox.told.next', { at: '\n' }) : t('sandbox.told.now')
  return {
    ...{ tone: 'warning', word: t('sandbox.told.retrying'), detail: t('sandbox.told.because', { reason, next }) },
    ...(next_attempt_at && { at: next_attempt_at.toISOString() }),
  }
}

/** The acceptance check as a page shows it. */
export async function acceptancePart(deps: Deps, view: OutputOf<typeof showRun>, t: Translate) {
  const { run, steps } = view
  const { passed, openSteps, proof, acceptedBefore, partner, missingContacts } = await acceptanceOf(deps, view)
  const { state } = progressOfRun(view)
  const reached = run.current_step === null || state === 'all_passed'
  const notifications = await notificationsOf(deps, run.run_id)
  const report = await reportOfRun(deps, run.run_id)
  const missing = [
    ...(openSteps.length > 0 ? [t('sandbox.acceptance.missing_steps')] : []),
    ...(proof.consumed.length === 0 ? [t('sandbox.acceptance.missing_consumption')] : []),
    ...(proof.refunded.length === 0 ? [t('sandbox.acceptance.missing_refund')] : []),
  ]
  return {
    /** All steps are done, or the last one was left. */
    reached,
    passedAt: run.passed_at,
    /** Ids of the orders that count as evidence. */
    consumed: proof.consumed,
    refunded: proof.refunded,
    /** One sentence for each thing that is missing. */
    missing: passed ? [] : missing,
    /** Contacts that the partner has yet to name. */
    missingContacts: passed || run.superseded_at !== null ? [] : missingContacts.map((role) => contactName(role, t)),
    openSteps: steps
      .filter(({ step }) => openSteps.includes(step.id))
      .map(({ step }) => ({ name: stepName(step.id, t), href: stepHref(run.run_id, step.id) })),
    /** The acceptance check can be requested. */
    open: reached && state !== 'accepted' && state !== 'replaced',
    /** The public page of the signed report. */
    signed: report ? `/sandbox/verify/${report.report_id}` : null,
    messages: contactMessages(run.run_id, notifications, t),
    /** Why there are none. Only the first accepted run sends messages; it may have had no contacts. */
    noMessages: t(acceptedBefore ? 'sandbox.told.before' : 'sandbox.told.nobody'),
    lacksContacts: !acceptedBefore,
    live: partner.stage === 'live',
    /** Where mails are written while SMTP_URL is not set. */
    mailFolder: notifications.folder,
  }
}
