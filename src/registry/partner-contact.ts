import type { Deps } from '../deps.ts'
import { changePartner } from './partner-change.ts'
import type { Contact, ContactRole, ShownPartner } from './partner-wire.ts'
import { keepContact } from './webhook-secret.ts'

/** Sets the partner's contact of that role, or replaces it whole. A webhook that is new comes with the secret of its calls. */
export async function setContact(
  deps: Deps,
  partnerId: bigint,
  role: ContactRole,
  contact: Contact,
): Promise<ShownPartner & { webhook_secret?: string }> {
  let webhook_secret: string | undefined
  const partner = await changePartner(deps, partnerId, 'partner_contact_set', async (db) => {
    webhook_secret = await keepContact({ ...deps, db }, partnerId, role, contact)
    return { role, new_webhook_secret: webhook_secret !== undefined }
  })
  return webhook_secret === undefined ? partner : { ...partner, webhook_secret }
}
