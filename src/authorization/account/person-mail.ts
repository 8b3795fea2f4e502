import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { recordByPerson } from '../../platform/audit/index.ts'
import { enqueue } from '../../platform/db/jobs-store.ts'
import type { UserRowKey } from '../../platform/db/personal-rows.ts'
import type { Deps } from '../../platform/deps.ts'
import { DAY_S } from '../../platform/lib/clock.ts'
import { decryptSecret, encryptSecret } from '../../platform/lib/crypto/keys.ts'
import { operation } from '../../platform/lib/json/input.ts'
import { deviceInWords } from '../../platform/lib/web/device.ts'
import type { Translate } from '../../platform/lib/web/locale.ts'
import { countWithin } from '../../platform/throttle/index.ts'
import { originOfSignIn } from './session-store.ts'
import { passportOf } from './store.ts'
import { routingKeyOf } from './wire.ts'

/** Mails to people about their account, sent to their passport if it is a mail address. */

const SECURITY = '/account/security/sign-in'

interface MailKind {
  readonly subject: string
  /** Defaults to a text made of the subject. */
  readonly text?: string
  /** Linked page; SECURITY by default. */
  readonly path?: string
  /** Sent to the address at the time of the event, which the queued job holds encrypted. */
  readonly toFormerAddress?: true
}

const KINDS = {
  factors_removed: { subject: 'mail.factors_removed_subject', text: 'mail.factors_removed_text' },
  totp_added: { subject: 'mail.totp_added' },
  totp_removed: { subject: 'mail.totp_removed' },
  recovery_codes_made: { subject: 'mail.recovery_codes_made' },
  passkey_added: { subject: 'mail.passkey_added' },
  passkey_removed: { subject: 'mail.passkey_removed' },
  codes_guessed: { subject: 'mail.codes_guessed', text: 'mail.codes_guessed_text' },
  password_changed: { subject: 'mail.password_changed' },
  password_reset: { subject: 'mail.password_reset' },
  new_device: { subject: 'mail.new_device', text: 'mail.new_device_text', path: '/account/security' },
  deletion_requested: {
    subject: 'mail.deletion_requested',
    text: 'mail.deletion_requested_text',
    path: '/account/data',
  },
  phone_changed: { subject: 'mail.phone_changed' },
  mail_changed: { subject: 'mail.mail_changed', text: 'mail.mail_changed_text', toFormerAddress: true },
  app_approved: { subject: 'mail.app_approved', text: 'mail.app_decided_text', path: '/developer' },
  app_refused: { subject: 'mail.app_refused', text: 'mail.app_decided_text', path: '/developer' },
  app_returned: { subject: 'mail.app_returned', text: 'mail.app_decided_text', path: '/developer' },
  deleted: { subject: 'mail.deleted', text: 'mail.deleted_text', toFormerAddress: true },
} as const satisfies Readonly<Record<string, MailKind>>
type KindName = keyof typeof KINDS

/** Ids only: the queue holds no address, except for `toFormerAddress`. */
const personMail = z.object({
  mailId: z.uuid(),
  cid: z.number(),
  userId: z.string(),
  kind: z.enum(Object.keys(KINDS) as KindName[]),
  at: z.coerce.date(),
  sealed: z.base64().optional(),
  signInId: z.uuid().optional(),
})

const contextOf = (mailId: string): string => `mail ${mailId}`

export function addressOf(passport: string | undefined): string | undefined {
  return passport !== undefined && z.email().max(254).safeParse(passport).success ? passport : undefined
}

/** Mails of one kind, so that endless changes do not flood a mailbox. */
const MAX_PER_DAY = 10

/** Queues a mail in the caller's transaction, if the person has an address. */
export async function tellPerson(deps: Deps, key: UserRowKey, kind: KindName, signInId?: string): Promise<void> {
  const { db, clock } = deps
  const address = addressOf(await passportOf(db, key))
  if (address === undefined) return
  const name = `${kind} ${key.cid}:${key.userId}`
  if (await countWithin(deps, DAY_S, [{ kind: 'mail-person', name, most: MAX_PER_DAY }])) return
  const mailId = randomUUID()
  const { toFormerAddress }: MailKind = KINDS[kind]
  const sealed = toFormerAddress && encryptSecret(deps.keys, address, contextOf(mailId)).toString('base64')
  const mail = { mailId, cid: key.cid, userId: key.userId, kind, at: clock.now(), sealed, signInId }
  await enqueue(db, 'send-person-mail', mail)
}

export async function recordChange(deps: Deps, person: UserRowKey, kind: Exclude<KindName, 'factors_removed'>) {
  await recordByPerson(deps, person, `user_${kind}`)
  await tellPerson(deps, person, kind)
}

/** Undefined if the person, or the address, is gone. `at` is the time that the text mentions. */
export const personMessage = operation(personMail, async (deps: Deps, mail) => {
  const { mailId, cid, userId, kind, at, sealed, signInId } = mail
  const key = { routingKey: routingKeyOf(cid, userId), cid, userId }
  const address = sealed
    ? decryptSecret(deps.keys, Buffer.from(sealed, 'base64'), contextOf(mailId))
    : addressOf(await passportOf(deps.db, key))
  if (address === undefined) return undefined
  const from = signInId === undefined ? undefined : await originOfSignIn(deps.db, key, signInId)
  const { subject: subjectKey, text: textKey = 'mail.changed_text', path = SECURITY }: MailKind = KINDS[kind]
  const url = `${deps.config.PUBLIC_URL}${path}`
  const subject = (t: Translate) => t(subjectKey)
  const text = (t: Translate, time: string) =>
    t(textKey, {
      what: subject(t),
      time,
      url,
      device: deviceInWords(from?.userAgent ?? null, t),
      address: from?.address ?? t('account.sessions.no_address'),
    })
  return { id: mailId, address, date: at, at, subject, text }
})
