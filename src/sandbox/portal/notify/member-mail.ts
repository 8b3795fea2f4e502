import type { Deps } from '../../../platform/deps.ts'
import type { OutputOf } from '../../../platform/lib/json/input.ts'
import { beijingTime, utcTime } from '../../../platform/lib/time-zone.ts'
import { type Translate, translator } from '../../../platform/lib/web/locale.ts'
import { type DeliveryResult, deliver } from '../../../platform/outbound/index.ts'
import { findMemberMail, markMailFailed, markMailSent } from '../../../ticketing/members/index.ts'
import { showPartner } from '../../../ticketing/partners/index.ts'
import { sendMail } from './mail.ts'
import { bilingual, type MailMessage, messageFrom } from './mail-message.ts'

/** One attempt at the mail with a member's link; nothing when it is sent, or its link can no longer be used. */
export async function sendMemberMail(deps: Deps, linkId: string): Promise<DeliveryResult> {
  const found = await findMemberMail(deps, linkId)
  if (!found) return {}
  const message = await memberMessage(deps, found)
  return deliver(deps, {
    send: () => sendMail(deps, linkId, message),
    markSent: () => markMailSent(deps, linkId),
    markFailed: (problem, final) => markMailFailed(deps, linkId, problem, final),
    givenUpAt: found.expiresAt,
  })
}

/** One mail for every attempt, but for its date. */
async function memberMessage(
  deps: Deps,
  { linkId, partnerId, purpose, mail, token, expiresAt }: NonNullable<OutputOf<typeof findMemberMail>>,
): Promise<MailMessage> {
  const { config, clock } = deps
  const { name, client_id } = await showPartner(deps, partnerId)
  const url = `${config.PUBLIC_URL}/sandbox/join?token=${token}`
  const values = { partner: name, client: client_id, url }
  const [zh, en] = [translator('zh-CN'), translator('en')]
  const utc = utcTime(expiresAt.toISOString()).slice(0, 16)
  const subject = (t: Translate) =>
    purpose === 'invitation' ? t('sandbox.mail.invitation_subject', values) : t('sandbox.mail.password_subject', values)
  const text = (t: Translate, time: string) =>
    purpose === 'invitation'
      ? t('sandbox.mail.invitation_text', { ...values, time })
      : t('sandbox.mail.password_text', { ...values, time })
  return messageFrom(config, {
    id: linkId,
    to: { name: '', address: mail },
    subject: `${subject(zh)} / ${subject(en)}`,
    text: bilingual(`${text(zh, beijingTime(expiresAt).slice(0, 16))}\n`, `${text(en, utc)}\n`),
    date: clock.now(),
  })
}
