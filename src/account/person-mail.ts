import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { enqueue } from '../db/jobs-store.ts'
import type { UserRowKey } from '../db/personal-rows.ts'
import type { Deps } from '../deps.ts'
import { operation } from '../lib/json/input.ts'
import type { Translate } from '../lib/web/locale.ts'
import { passportOf } from './password-store.ts'
import { routingKeyOf } from './wire.ts'

/** Mails to people about their account. A person's address is the passport, where that is one. */

const KINDS = ['factors_removed'] as const
type Kind = (typeof KINDS)[number]

/** Ids only: the queue holds no address. */
const personMail = z.object({
  mailId: z.uuid(),
  cid: z.number(),
  userId: z.string(),
  kind: z.enum(KINDS),
  at: z.coerce.date(),
})
type PersonMail = z.output<typeof personMail>

/** The address of a person; undefined where the passport is none. */
export function addressOf(passport: string | undefined): string | undefined {
  return passport !== undefined && z.email().max(254).safeParse(passport).success ? passport : undefined
}

/** Queues a mail as part of the caller's transaction, if there is an address. */
export async function tellPerson({ db, clock }: Deps, key: UserRowKey, kind: Kind): Promise<void> {
  if (addressOf(await passportOf(db, key)) === undefined) return
  const mail = { mailId: randomUUID(), cid: key.cid, userId: key.userId, kind, at: clock.now() }
  await enqueue(db, 'send-person-mail', mail)
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
  const { mailId, cid, userId, at } = mail
  const address = addressOf(await passportOf(deps.db, { routingKey: routingKeyOf(cid, userId), cid, userId }))
  if (address === undefined) return undefined
  const url = `${deps.config.PUBLIC_URL}/account/security/sign-in`
  return {
    id: mailId,
    address,
    date: at,
    told: at,
    subject: (t) => t('mail.factors_removed_subject'),
    text: (t, time) => t('mail.factors_removed_text', { time, url }),
  }
}
