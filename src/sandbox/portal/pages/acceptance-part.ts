import type { Deps } from '../../../platform/deps.ts'
import type { OutputOf } from '../../../platform/lib/json/input.ts'
import type { Translate } from '../../../platform/lib/web/locale.ts'
import { findPartner } from '../../../ticketing/partners/index.ts'
import { acceptanceOf, listRuns, progressOfRun, type showRun } from '../../certification/index.ts'
import { reportOfRun } from '../../reports/index.ts'
import { notificationsOf } from '../notify/notifications.ts'
import { stepName } from '../texts.ts'
import { type ContactMessage, contactMessages } from './contact-messages.ts'
import { stepHref } from './step-item.ts'

/** The acceptance check as a page shows it. */
export interface AcceptancePart {
  /** Every step has passed, or the last one was left. */
  readonly reached: boolean
  /** ISO 8601; null until then. */
  readonly passedAt: string | null
  /** Order ids that count. */
  readonly consumed: readonly string[]
  readonly refunded: readonly string[]
  /** What is missing, a sentence each; nothing once it has passed. */
  readonly missing: readonly string[]
  readonly openSteps: readonly { readonly name: string; readonly href: string }[]
  /** Contacts that it needs and the partner has yet to name; nothing once it has passed. */
  readonly missingContacts: readonly string[]
  /** The check can be asked for. */
  readonly open: boolean
  /** The signed report, for everybody who knows its address; null until it has passed. */
  readonly signed: string | null
  /** The notifications to the contacts. */
  readonly told: readonly ContactMessage[]
  /** Why there are none. */
  readonly nobodyTold: string
  /** There are none because no contact was named; one can still be. */
  readonly noContact: boolean
  /** Operators have set the partner live. */
  readonly live: boolean
  /** Where mails are written while no mail server is set; null where one is. */
  readonly mailFolder: string | null
}

export async function acceptancePart(
  deps: Deps,
  view: OutputOf<typeof showRun>,
  t: Translate,
): Promise<AcceptancePart> {
  const { run, steps } = view
  const { passed, openSteps, proof, missingContacts } = await acceptanceOf(deps, view)
  const { state } = progressOfRun(view)
  const reached = run.current_step === null || state === 'all_passed'
  const told = await notificationsOf(deps, run.run_id)
  const runs = await listRuns(deps, run.partner_id)
  const passedBefore = runs.some((shown) => shown.run.passed_at !== null && shown.run.number < run.number)
  const report = await reportOfRun(deps, run.run_id)
  const contacts = { product: t('sandbox.told.product'), business: t('sandbox.told.business') }
  const missing = [
    ...(openSteps.length > 0 ? [t('sandbox.acceptance.missing_steps')] : []),
    ...(proof.consumed.length === 0 ? [t('sandbox.acceptance.missing_consumption')] : []),
    ...(proof.refunded.length === 0 ? [t('sandbox.acceptance.missing_refund')] : []),
  ]
  return {
    reached,
    passedAt: run.passed_at?.toISOString() ?? null,
    consumed: proof.consumed,
    refunded: proof.refunded,
    missing: passed ? [] : missing,
    missingContacts: passed || run.superseded_at !== null ? [] : missingContacts.map((role) => contacts[role]),
    openSteps: steps
      .filter(({ step }) => openSteps.includes(step.id))
      .map(({ step }) => ({ name: stepName(step.id, t), href: stepHref(run.run_id, step.id) })),
    open: reached && state !== 'accepted' && state !== 'replaced',
    signed: report ? `/sandbox/verify/${report.report_id}` : null,
    told: contactMessages(run.run_id, told, t),
    noContact: !passedBefore,
    live: (await findPartner(deps, run.partner_id))?.stage === 'live',
    nobodyTold: t(passedBefore ? 'sandbox.told.before' : 'sandbox.told.nobody'),
    mailFolder: told.folder,
  }
}
