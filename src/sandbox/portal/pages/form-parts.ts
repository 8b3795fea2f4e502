import type { Translate } from '../../../platform/lib/web/locale.ts'
import { CONTACT_ROLES, type ContactRole } from '../../../ticketing/partners/index.ts'
import { type Conditions, conditions, type FAULTS } from '../../test-plan/index.ts'
import { type ContactPerson, contactPerson, type OwnContacts } from '../contacts.ts'
import { contactName } from '../texts.ts'

interface ConditionTexts {
  readonly texts: Readonly<Record<(typeof NUMBERS)[number], string>>
  readonly faults: readonly Fault[]
}

/** Conditions that are numbers. */
export const NUMBERS = ['days_ahead', 'wait_minutes'] as const satisfies (keyof Conditions)[]

export type Fault = (typeof FAULTS)[number]

/** Input for the schema; an empty field is 0. Undefined if all conditions are at their defaults. */
export const conditionsGiven = ({ faults, texts }: ConditionTexts) =>
  NUMBERS.every((name) => Number(texts[name]) === 0) && faults.length === 0
    ? undefined
    : Object.fromEntries([
        ...NUMBERS.map((name) => [name, texts[name] || '0']),
        ...faults.map((fault) => [fault, true]),
      ])

/** `wrong`: the invalid number. */
export function parseConditions(form: ConditionTexts): Conditions | { readonly wrong: (typeof NUMBERS)[number] } {
  const { data, error } = conditions.safeParse(conditionsGiven(form) ?? {})
  return data ?? { wrong: NUMBERS.find((name) => error?.issues.some(({ path }) => path[0] === name)) ?? 'days_ahead' }
}

export const faultText = (fault: Fault, t: Translate): string => t(`sandbox.conditions.${fault}`)

/** Contacts on the functions page. */

const PARTS = ['name', 'mail'] as const
type Part = (typeof PARTS)[number]

/** `contact.product.name` → text as typed; fields that were not sent are missing. */
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

/**
 * Parses the contacts. One left empty is ignored, unless it is stored: acceptance needs it. `required`: at least one.
 */
export function parseContacts(texts: ContactTexts, stored: OwnContacts['contacts'], required = false) {
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

export function shownContacts(
  { contacts }: OwnContacts,
  texts: ContactTexts,
  problems: Readonly<Record<string, string>>,
  t: Translate,
) {
  return CONTACT_ROLES.map((role) => {
    const field = (part: Part, label: string) => {
      const name = fieldOf(role, part)
      const problem = problems[name]
      return { name, label, value: texts[name] ?? contacts[role]?.[part] ?? '', problem: problem ? t(problem) : '' }
    }
    return {
      legend: contactName(role, t),
      missing: contacts[role] === undefined,
      person: field('name', t('sandbox.contacts.name')),
      mail: field('mail', t('sandbox.contacts.mail')),
    }
  })
}
