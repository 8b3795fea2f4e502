import { acceptanceOf, type RunView, reportOfRun } from '../../certification/index.ts'
import type { Deps } from '../../deps.ts'
import { beijingTime } from '../../lib/beijing.ts'
import type { Translate } from '../../lib/web/locale.ts'
import { notificationsOf, type ShownNotification } from '../notify/notifications.ts'
import { stepName } from '../texts.ts'
import type { Tone } from './log-line.ts'
import { stepHref } from './step-item.ts'

/** The acceptance check as a page shows it. */
export interface AcceptancePart {
  /** The last step was left. */
  readonly reached: boolean
  /** `yyyy-MM-dd HH:mm:ss` in Beijing; null until then. */
  readonly passedAt: string | null
  /** Order ids that count. */
  readonly consumed: readonly string[]
  readonly refunded: readonly string[]
  /** What is missing, a sentence each; nothing once it has passed. */
  readonly missing: readonly string[]
  readonly openSteps: readonly { readonly name: string; readonly href: string }[]
  /** The check can be asked for. */
  readonly open: boolean
  /** The signed report, for everybody who knows its address; null until it has passed. */
  readonly signed: string | null
  /** The notifications to the contacts. */
  readonly told: readonly Telling[]
  /** Where mails are written while no mail server is set; null where one is. */
  readonly mailFolder: string | null
}

interface Telling {
  readonly role: string
  readonly channel: string
  readonly address: string
  readonly tone: Tone
  readonly word: string
  /** When it was sent, or what went wrong last. */
  readonly detail: string
  /** Where a form asks for another try; null unless it was given up. */
  readonly retry: string | null
}

export async function acceptancePart(deps: Deps, view: RunView, t: Translate): Promise<AcceptancePart> {
  const { run, steps } = view
  const { passed, openSteps, proof } = await acceptanceOf(deps, view)
  const reached = run.current_step === null
  const { notifications, folder } = await notificationsOf(deps, run.run_id)
  const report = await reportOfRun(deps, run.run_id)
  const missing = [
    ...(openSteps.length > 0 ? [t('sandbox.acceptance.missing_steps')] : []),
    ...(proof.consumed.length === 0 ? [t('sandbox.acceptance.missing_consumption')] : []),
    ...(proof.refunded.length === 0 ? [t('sandbox.acceptance.missing_refund')] : []),
  ]
  return {
    reached,
    passedAt: run.passed_at && beijingTime(run.passed_at),
    consumed: proof.consumed,
    refunded: proof.refunded,
    missing: passed ? [] : missing,
    openSteps: steps
      .filter(({ step }) => openSteps.includes(step.id))
      .map(({ step }) => ({ name: stepName(step.id, t), href: stepHref(run.run_id, step.id) })),
    open: reached && !passed && run.superseded_at === null,
    signed: report ? `/sandbox/verify/${report.report_id}` : null,
    told: notifications.map((one) => telling(run.run_id, one, t)),
    mailFolder: folder,
  }
}

function telling(runId: string, notification: ShownNotification, t: Translate): Telling {
  const { notification_id, role, channel, address, state, sent_at, last_error } = notification
  const who = { product: t('sandbox.told.product'), business: t('sandbox.told.business') }[role]
  const how = { mail: t('sandbox.told.mail'), webhook: t('sandbox.told.webhook') }[channel]
  const detail = sent_at ? beijingTime(sent_at) : (last_error ?? '')
  const about = { role: who, channel: how, address, detail, retry: null }
  if (state === 'sent') return { ...about, tone: 'good', word: t('sandbox.told.sent') }
  if (state === 'waiting') return { ...about, tone: 'warning', word: t('sandbox.told.waiting') }
  const retry = `/sandbox/run/${runId}/notifications/${notification_id}/retry`
  return { ...about, tone: 'bad', word: t('sandbox.told.failed'), retry }
}
