import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { recordAudit } from '../audit/index.ts'
import { enqueue } from '../db/jobs-store.ts'
import type { UserRowKey } from '../db/personal-rows.ts'
import { DAY_S } from '../db/retention.ts'
import type { Deps } from '../deps.ts'
import { operation } from '../lib/json/input.ts'
import type { Translate } from '../lib/web/locale.ts'
import { countWithin } from '../throttle/index.ts'
import { passportOf } from './password-store.ts'
import { routingKeyOf } from './wire.ts'

/** Mails to people about their account. A person's address is the passport, where that is one. */

/** The subject of each kind; the text is made of it, where TEXTS has none. */
const SUBJECTS = {
  factors_removed: 'mail.factors_removed_subject',
  totp_added: 'mail.totp_added',
  totp_removed: 'mail.totp_removed',
  recovery_codes_made: 'mail.recovery_codes_made',
  passkey_added: 'mail.passkey_added',
  passkey_removed: 'mail.passkey_removed',
  codes_guessed: 'mail.codes_guessed',
  password_changed: 'mail.password_changed',
  password_reset: 'mail.password_reset',
} as const
type Kind = keyof typeof SUBJECTS

const TEXTS: Partial<Record<Kind, string>> = {
  factors_removed: 'mail.factors_removed_text',
  codes_guessed: 'mail.codes_guessed_text',
}

/** Ids only: the queue holds no address. */
const personMail = z.object({
  mailId: z.uuid(),
  cid: z.number(),
  userId: z.string(),
  kind: z.enum(Object.keys(SUBJECTS) as Kind[]),
  at: z.coerce.date(),
})
type PersonMail = z.output<typeof personMail>

/** The address of a person; undefined where the passport is none. */
export function addressOf(passport: string | undefined): string | undefined {
  return passport !== undefined && z.email().max(254).safeParse(passport).success ? passport : undefined
}

/** Of one kind: whoever changes something without end fills no mailbox. */
const PER_DAY = 10

/** Queues a mail as part of the caller's transaction, if there is an address. */
export async function tellPerson(deps: Deps, key: UserRowKey, kind: Kind): Promise<void> {
  const { db, clock } = deps
  if (addressOf(await passportOf(db, key)) === undefined) return
  const name = `${kind} ${key.cid}:${key.userId}`
  if (await countWithin(deps, DAY_S, [{ kind: 'mail-person', name, most: PER_DAY }])) return
  const mail = { mailId: randomUUID(), cid: key.cid, userId: key.userId, kind, at: clock.now() }
  await enqueue(db, 'send-person-mail', mail)
}

/** Something that protects the account was changed, by its person or by whoever signs in as them: for the audit log, and for their mailbox. */
export async function recordChange(
  deps: Deps,
  whose: UserRowKey,
  kind: Exclude<Kind, 'factors_removed'>,
): Promise<void> {
  const { routingKey, cid, userId } = whose
  const actor = { ...deps.actor, kind: 'user', name: `${cid}/${userId}` } as const
  await recordAudit(deps, { event: `user_${kind}`, actor, routingKey, cid, userId })
  await tellPerson(deps, whose, kind)
}

interface PersonMessage {
  readonly id: string
  readonly address: string
  readonly date: Date
  /** The moment that the text tells. */
  readonly told: Date
  readonly subject: (t: Translate) => string
  /** `time`: that moment, as the language has it. */
  readonly text: (t: Translate, time: string) => string
}

/** Undefined where the person, or the address, is gone. */
export const personMessage = operation(personMail, messageOf)

async function messageOf(deps: Deps, mail: PersonMail): Promise<PersonMessage | undefined> {
  const { mailId, cid, userId, kind, at } = mail
  const address = addressOf(await passportOf(deps.db, { routingKey: routingKeyOf(cid, userId), cid, userId }))
  if (address === undefined) return undefined
  const url = `${deps.config.PUBLIC_URL}/account/security/sign-in`
  const subject = (t: Translate) => t(SUBJECTS[kind])
  const text: PersonMessage['text'] = (t, time) =>
    t(TEXTS[kind] ?? 'mail.changed_text', { what: subject(t), time, url })
  return { id: mailId, address, date: at, told: at, subject, text }
}
