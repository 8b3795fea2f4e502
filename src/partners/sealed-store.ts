import type { SealedColumn } from '../db/sealed.ts'
import { webhookSecretContext } from './contact-store.ts'
import { aesKeyContext, secretContext } from './store.ts'

/** What this room keeps sealed. */
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
