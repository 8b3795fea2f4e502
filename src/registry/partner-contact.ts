import type { Deps } from '../deps.ts'
import { changePartner } from './partner-change.ts'
import { putContact } from './partner-store.ts'
import type { Contact, ContactRole, ShownPartner } from './partner-wire.ts'

/** Sets the partner's contact of that role, or replaces it whole. */
export const setContact = (deps: Deps, partnerId: bigint, role: ContactRole, contact: Contact): Promise<ShownPartner> =>
  changePartner(deps, partnerId, 'partner_contact_set', async (db) => {
    await putContact(db, partnerId, role, contact)
    return { role }
  })
