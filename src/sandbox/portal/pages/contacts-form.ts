import type { Translate } from '../../../platform/lib/web/locale.ts'
import { CONTACT_ROLES, type ContactRole } from '../../../ticketing/partners/index.ts'
import { type ContactPerson, type ContactsGiven, contactPerson, type OwnContacts } from '../contacts.ts'

/** The contacts on the page of functions: read from the form, checked, and shown again as they were typed. */

const PARTS = ['name', 'mail'] as const
type Part = (typeof PARTS)[number]

/** `contact.product.name` → what was typed; a field that was not sent is missing. */
export type ContactTexts = Readonly<Record<string, string>>

const fieldOf = (role: ContactRole, part: Part): string => `contact.${role}.${part}`
const FIELDS = CONTACT_ROLES.flatMap((role) => PARTS.map((part) => fieldOf(role, part)))

export const readContacts = (fields: Readonly<Record<string, unknown>>): ContactTexts =>
  Object.fromEntries(
    FIELDS.flatMap((name) => {
      const typed = fields[name]
      return typeof typed === 'string' ? [[name, typed.trim()]] : []
    }),
  )

export interface ParsedContacts {
  readonly given: ContactsGiven | undefined
  /** A field → key of the text that says what is wrong. */
  readonly problems: Readonly<Record<string, string>>
}

/**
 * The contacts that were typed. One whose fields are both empty is left out, unless it is stored: acceptance needs it, so
 * it cannot be taken away. `required`: at least one has to be there.
 */
export function parseContacts(texts: ContactTexts, stored: OwnContacts['contacts'], required = false): ParsedContacts {
  const none = required && FIELDS.every((name) => !texts[name])
  const given: Partial<Record<ContactRole, ContactPerson>> = {}
  const problems: Record<string, string> = {}
  for (const role of CONTACT_ROLES) {
    const [name, mail] = [texts[fieldOf(role, 'name')], texts[fieldOf(role, 'mail')]]
    if (!none && !name && !mail && (stored[role] === undefined || (name === undefined && mail === undefined))) continue
    const read = contactPerson.safeParse({ name: name ?? '', mail: mail ?? '' })
    if (read.success) given[role] = read.data
    for (const { path } of read.error?.issues ?? []) {
      if (path[0] === 'name') problems[fieldOf(role, 'name')] = 'sandbox.problem.contact_name'
      else problems[fieldOf(role, 'mail')] = 'sandbox.problem.contact_mail'
    }
  }
  return { given: Object.keys(given).length > 0 ? given : undefined, problems }
}

interface ContactField {
  readonly name: string
  readonly label: string
  readonly value: string
  readonly problem: string
}

export interface ShownContact {
  readonly legend: string
  readonly missing: boolean
  readonly person: ContactField
  readonly mail: ContactField
}

export function shownContacts(
  { contacts }: OwnContacts,
  texts: ContactTexts,
  problems: Readonly<Record<string, string>>,
  t: Translate,
): ShownContact[] {
  const legends = { product: t('sandbox.told.product'), business: t('sandbox.told.business') }
  return CONTACT_ROLES.map((role) => {
    const field = (part: Part, label: string): ContactField => {
      const name = fieldOf(role, part)
      const problem = problems[name]
      return { name, label, value: texts[name] ?? contacts[role]?.[part] ?? '', problem: problem ? t(problem) : '' }
    }
    return {
      legend: legends[role],
      missing: contacts[role] === undefined,
      person: field('name', t('sandbox.contacts.name')),
      mail: field('mail', t('sandbox.contacts.mail')),
    }
  })
}
