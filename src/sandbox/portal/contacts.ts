import { z } from 'zod'
import { type Deps, inTransaction } from '../../platform/deps.ts'
import { problem } from '../../platform/lib/json/field-problem.ts'
import type { OutputOf } from '../../platform/lib/json/input.ts'
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

/** A partner's contacts as shown to the partner. */
export interface OwnContacts {
  readonly contacts: Readonly<Partial<Record<ContactRole, ContactPerson>>>
  /** Still needed for acceptance. */
  readonly missing: readonly ContactRole[]
}

const visibleContacts = ({ contacts }: Pick<OutputOf<typeof showPartner>, 'contacts'>): OwnContacts => ({
  contacts: Object.fromEntries(
    CONTACT_ROLES.flatMap((role) => {
      const known = contacts[role]
      return known ? [[role, { name: known.name, mail: known.mail }]] : []
    }),
  ),
  missing: CONTACT_ROLES.filter((role) => contacts[role] === undefined),
})

export const ownContacts = async (deps: Deps, partnerId: bigint): Promise<OwnContacts> =>
  visibleContacts(await showPartner(deps, partnerId))

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
