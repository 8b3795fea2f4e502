import type { Deps } from '../../platform/deps.ts'
import { newWebhookSecret } from '../../platform/lib/crypto/generated-secret.ts'
import { decryptSecret, encryptSecret, type Keys } from '../../platform/lib/crypto/keys.ts'
import { operation, type UnchangedSince, unchangedSince } from '../../platform/lib/json/input.ts'
import { localized } from '../../platform/lib/localized-text.ts'
import { invalidRequest } from '../../platform/lib/web/rescode.ts'
import { changePartner } from './change.ts'
import * as store from './contact-store.ts'
import { type Contact, type ContactOfRole, type ContactRole, contactOfRole, type ShownPartner } from './wire.ts'

const sealWebhookSecret = (keys: Keys, partnerId: bigint, role: ContactRole, secret: string): Buffer =>
  encryptSecret(keys, secret, store.webhookSecretContext(partnerId, role))

/** The secret that signs calls to this webhook, `whsec_…`; undefined if the contact has another webhook by now. */
export async function webhookSecret(
  { db, keys }: Deps,
  { partnerId, role, url }: { partnerId: bigint; role: ContactRole; url: string },
): Promise<string | undefined> {
  const webhook = await store.findWebhook(db, partnerId, role)
  if (!webhook?.webhook_secret || webhook.webhook_url !== url) return undefined
  return decryptSecret(keys, webhook.webhook_secret, store.webhookSecretContext(partnerId, role))
}

/** Stores a contact. Returns the secret of a new webhook; one with the same URL keeps its own. */
export async function storeContact(
  { db, keys }: Pick<Deps, 'db' | 'keys'>,
  partnerId: bigint,
  role: ContactRole,
  contact: Contact,
): Promise<string | undefined> {
  const before = await store.findWebhook(db, partnerId, role)
  const isNew = contact.webhook_url !== null && before?.webhook_url !== contact.webhook_url
  const secret = isNew ? newWebhookSecret() : undefined
  const kept = contact.webhook_url === null ? null : (before?.webhook_secret ?? null)
  await store.putContact(db, partnerId, role, {
    ...contact,
    webhook_secret: secret ? sealWebhookSecret(keys, partnerId, role, secret) : kept,
  })
  return secret
}

/** Replaces the secret of a webhook at once; it is only shown now. Failed calls are retried for a day. */
export async function rotateWebhookSecret(
  deps: Deps,
  partnerId: bigint,
  role: ContactRole,
): Promise<ShownPartner & { webhook_secret: string }> {
  const webhook_secret = newWebhookSecret()
  const partner = await changePartner(deps, partnerId, 'partner_webhook_secret_rotated', async ({ db }) => {
    const sealed = sealWebhookSecret(deps.keys, partnerId, role, webhook_secret)
    if (!(await store.setWebhookSecret(db, partnerId, role, sealed)))
      throw invalidRequest(localized('no-contact-webhook'), { status: 404 })
    return { role }
  })
  return { ...partner, webhook_secret }
}

/** Sets or replaces the partner's contact of that role. For a new webhook its secret is returned. */
export const setContact = operation(
  contactOfRole.extend(unchangedSince),
  async (
    deps: Deps,
    partnerId: bigint,
    { role, unchanged_since, ...contact }: ContactOfRole & UnchangedSince,
  ): Promise<ShownPartner & { webhook_secret?: string }> => {
    let webhook_secret: string | undefined
    const work = async (inside: Deps): Promise<object> => {
      webhook_secret = await storeContact(inside, partnerId, role, contact)
      return { role, new_webhook_secret: webhook_secret !== undefined }
    }
    const partner = await changePartner(deps, partnerId, 'partner_contact_set', work, unchanged_since)
    return webhook_secret === undefined ? partner : { ...partner, webhook_secret }
  },
)
