import { z } from 'zod'
import { type Deps, inTransaction } from '../../platform/deps.ts'
import { problem } from '../../platform/lib/json/field-problem.ts'
import { countUse } from '../../platform/throttle/index.ts'
import { requireOwner } from '../../ticketing/members/index.ts'
import {
  CONTACT_ROLES,
  type ContactRole,
  lockPartner,
  setContact,
  showPartner,
} from '../../ticketing/partners/index.ts'

/** What partners may set themselves; webhooks are set by operators, who hand over the secret. */
export const contactPerson = setContact.input.pick({ name: true, mail: true })
export type ContactPerson = z.output<typeof contactPerson>

export const contactsGiven = z
  .strictObject({ product: contactPerson.optional(), business: contactPerson.optional() })
  .refine((given) => CONTACT_ROLES.some((role) => given[role]), problem('must-have-contact'))
export type ContactsGiven = z.output<typeof contactsGiven>

export type OwnContacts = Awaited<ReturnType<typeof ownContacts>>

/** A partner's contacts as shown to the partner. */
export async function ownContacts(deps: Deps, partnerId: bigint) {
  const { contacts } = await showPartner(deps, partnerId)
  const known = CONTACT_ROLES.flatMap((role) => {
    const contact = contacts[role]
    return contact ? [[role, { name: contact.name, mail: contact.mail }]] : []
  })
  return {
    contacts: Object.fromEntries(known) as Partial<Record<ContactRole, ContactPerson>>,
    /** Still needed for acceptance. */
    missing: CONTACT_ROLES.filter((role) => contacts[role] === undefined),
  }
}

/** Sets the given contacts; others, and webhooks, stay. Throws 20003 with Retry-After when rate-limited. */
export const giveContacts = (deps: Deps, partnerId: bigint, given: ContactsGiven): Promise<OwnContacts> =>
  inTransaction(deps, async (inside) => {
    await lockPartner(inside, partnerId)
    const { contacts } = await showPartner(inside, partnerId)
    const changed = CONTACT_ROLES.flatMap((role) => {
      const [before, now] = [contacts[role], given[role]]
      if (!now || (before?.name === now.name && before.mail === now.mail)) return []
      return [{ role, ...now, webhook_url: before?.webhook_url ?? null }]
    })
    // Only owners may do this on the pages. Programs sign with the clientSecret, so they may too.
    if (changed.length > 0 && deps.actor?.name !== undefined) await requireOwner(inside, partnerId)
    if (changed.length > 0) await countUse(inside, 'contacts', partnerId)
    for (const contact of changed) await setContact(inside, partnerId, contact)
    return ownContacts(inside, partnerId)
  })
