import { z } from 'zod'
import type { SealedColumn } from '../../platform/db/sealed.ts'
import { type Db, sql } from '../../platform/db/sql.ts'
import { aesKeyContext, secretContext } from './store.ts'
import type { Contact, ContactRole } from './wire.ts'

const webhook = z.object({ webhook_url: z.string().nullable(), webhook_secret: z.instanceof(Buffer).nullable() })

/** Binds a sealed secret to its row: moved to another one, it does not open. */
export const webhookSecretContext = (partnerId: bigint | string, role: string): string =>
  `webhook_secret ${partnerId} ${role}`

export const findWebhook = (db: Db, partnerId: bigint, role: ContactRole) =>
  db.maybe(
    webhook,
    sql`select webhook_url, webhook_secret from partner_contact where partner_id = ${partnerId} and role = ${role}`,
  )

export const putContact = (
  db: Db,
  partnerId: bigint,
  role: ContactRole,
  contact: Contact & { readonly webhook_secret: Buffer | null },
): Promise<number> =>
  db.exec(
    sql`insert into partner_contact (partner_id, role, name, mail, webhook_url, webhook_secret)
    values (${partnerId}, ${role}, ${contact.name}, ${contact.mail}, ${contact.webhook_url}, ${contact.webhook_secret})
    on conflict (partner_id, role) do update set name = excluded.name, mail = excluded.mail,
      webhook_url = excluded.webhook_url, webhook_secret = excluded.webhook_secret`,
  )

/** False if there is no webhook. */
export const setWebhookSecret = async (db: Db, partnerId: bigint, role: ContactRole, sealed: Buffer) =>
  (await db.exec(
    sql`update partner_contact set webhook_secret = ${sealed}
    where partner_id = ${partnerId} and role = ${role} and webhook_url is not null`,
  )) === 1

export const PARTNERS_SEALED: readonly SealedColumn[] = [
  {
    table: 'partner_secret',
    column: 'sealed',
    key: ['partner_id', 'secret_id'],
    contextOf: ([partnerId = '', secretId = '']) => secretContext(partnerId, secretId),
  },
  {
    table: 'partner',
    column: 'aes_key',
    key: ['partner_id'],
    contextOf: ([partnerId = '']) => aesKeyContext(partnerId),
  },
  {
    table: 'partner_contact',
    column: 'webhook_secret',
    key: ['partner_id', 'role'],
    contextOf: ([partnerId = '', role = '']) => webhookSecretContext(partnerId, role),
  },
]
