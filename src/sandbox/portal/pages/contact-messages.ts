import type { Translate } from '../../../platform/lib/web/locale.ts'
import type { Notifications, ShownNotification } from '../notify/notifications.ts'
import type { Tone } from './log-line.ts'

/** A message to a contact and its delivery as the page shows it, no better than it is. */
export interface ContactMessage {
  readonly role: string
  readonly channel: string
  readonly address: string
  readonly tone: Tone
  readonly word: string
  /** When it was sent; or what went wrong last, and when it is tried again. A line feed stands for `at`. */
  readonly detail: string
  /** ISO 8601. */
  readonly at?: string
  /** Where a form asks for another try; null unless it was given up. */
  readonly retry: string | null
}

export function contactMessages(
  runId: string,
  { notifications, folder }: Notifications,
  t: Translate,
): ContactMessage[] {
  const roles = { product: t('sandbox.told.product'), business: t('sandbox.told.business') }
  const channels = { mail: t('sandbox.told.mail'), webhook: t('sandbox.told.webhook') }
  return notifications.map((message) => ({
    role: roles[message.role],
    channel: channels[message.channel],
    address: message.address,
    ...standing(message, folder !== null && message.channel === 'mail', t),
    retry: message.state === 'failed' ? `/sandbox/run/${runId}/notifications/${message.notification_id}/retry` : null,
  }))
}

function standing(
  { state, attempts, last_error, next_attempt_at, sent_at }: ShownNotification,
  toFile: boolean,
  t: Translate,
): Pick<ContactMessage, 'tone' | 'word' | 'detail' | 'at'> {
  if (state === 'sent') {
    const when = sent_at ? { detail: '\n', at: sent_at.toISOString() } : { detail: '' }
    return toFile
      ? { tone: 'warning', word: t('sandbox.told.written'), ...when }
      : { tone: 'good', word: t('sandbox.told.sent'), ...when }
  }
  // One line: a line feed has a meaning here.
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
