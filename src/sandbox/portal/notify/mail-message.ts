import type { Config } from '../../../platform/config/index.ts'
import { beijingTime, utcTime } from '../../../platform/lib/time-zone.ts'
import { translator } from '../../../platform/lib/web/locale.ts'
import type { Notification } from './wire.ts'

/** A mail as nodemailer takes it; it keeps line breaks in names and addresses from becoming headers. */
export interface MailMessage {
  readonly from: string
  readonly to: { readonly name: string; readonly address: string }
  readonly subject: string
  readonly text: string
  readonly messageId: string
  readonly date: Date
  readonly headers: Readonly<Record<string, string>>
}

/**
 * Parts that all mails share. `id` becomes the Message-ID, by which a receiver recognises a mail that arrives twice.
 */
export const messageFrom = (
  config: Config,
  { id, ...message }: Pick<MailMessage, 'to' | 'subject' | 'text' | 'date'> & { readonly id: string },
): MailMessage => ({
  ...message,
  from: config.MAIL_FROM,
  messageId: `<${id}@${new URL(config.PUBLIC_URL).hostname}>`,
  headers: { 'Auto-Submitted': 'auto-generated' },
})

/** A text in both languages, one below the other. */
export const bilingual = (zh: string, en: string): string => `${zh}\n--------\n\n${en}`

/**
 * One mail in both languages, as the reader's is not known. Every attempt sends the same mail, Message-ID and Date too.
 */
export function messageOf(config: Config, notification: Notification): MailMessage {
  const { notification_id, role, name, address, facts, created_at } = notification
  const values = { name, partner: facts.partnerName, run: String(facts.runNumber), url: facts.reportUrl }
  const [zh, en] = [translator('zh-CN'), translator('en')]
  const utc = utcTime(facts.passedAt.toISOString()).slice(0, 16)
  const text = (t: typeof zh, time: string) => {
    const [next, why] =
      role === 'product'
        ? [t('sandbox.mail.next_product', values), t('sandbox.mail.why_product', values)]
        : [t('sandbox.mail.next_business', values), t('sandbox.mail.why_business', values)]
    return `${t('sandbox.mail.text', { ...values, time })}\n\n${next}\n\n${why}\n`
  }
  return messageFrom(config, {
    id: notification_id,
    to: { name, address },
    subject: `${zh('sandbox.mail.subject', values)} / ${en('sandbox.mail.subject', values)}`,
    text: bilingual(text(zh, beijingTime(facts.passedAt).slice(0, 16)), text(en, utc)),
    date: created_at,
  })
}
