import { z } from 'zod'
import type { Deps } from '../../../platform/deps.ts'
import type { InputOf, OutputOf } from '../../../platform/lib/json/input.ts'
import type { Detail } from '../../../platform/lib/localized-text.ts'
import { INTERFACES, type InterfaceName } from '../../../ticketing/interfaces/index.ts'
import { CONTACT_ROLES, type ContactRole, showPartner, updatePartner } from '../../../ticketing/partners/index.ts'
import { findCurrentRun } from '../../certification/index.ts'
import {
  type Choice,
  type Conditions,
  choice,
  conditions,
  FAULTS,
  FUNCTION_IDS,
  type FunctionId,
  interfacesOf,
  isDayOver,
  missingKinds,
  NO_CONDITIONS,
  OFFERED_FUNCTIONS,
  PRODUCT_ROLES,
  REQUIRED_FUNCTIONS,
} from '../../test-plan/index.ts'
import { type ContactPerson, contactPerson, type OwnContacts } from '../contacts.ts'
import { DEMO_PRODUCTS, isDemo } from '../demo-partner.ts'

/** Fields of the choice that may be left empty. */
const OPTIONAL = ['travel_date', 'unit_price', 'buy_price'] as const

/** Conditions that are numbers. */
export const NUMBERS = ['days_ahead', 'wait_minutes'] as const satisfies (keyof Conditions)[]

export const urlField = (name: InterfaceName): string => `url.${name}`

const PARTS = ['name', 'mail'] as const
export const contactField = (role: ContactRole, part: (typeof PARTS)[number]): string => `contact.${role}.${part}`
const CONTACT_FIELDS = CONTACT_ROLES.flatMap((role) => PARTS.map((part) => contactField(role, part)))

const FIELDS: readonly string[] = [
  ...[...PRODUCT_ROLES, ...OPTIONAL, 'quantity', 'base_url', ...NUMBERS, ...FAULTS],
  ...[...INTERFACES.map(({ name }) => urlField(name)), ...CONTACT_FIELDS],
]

/** The form as typed, so that it can be shown again. `fields`: trimmed texts by name; those not sent are missing. */
export interface TypedForm {
  readonly functions: readonly FunctionId[]
  readonly fields: Readonly<Record<string, string>>
}

/** Field or group (`main`, `url.order-create`, `pay`, `refund`, …) → key of the text that says what is wrong. */
export type Problems = Readonly<Record<string, string>>

export interface RunRequest {
  readonly choice: Choice
  readonly urls: Required<Pick<InputOf<typeof updatePartner>, 'base_url' | 'interface_urls'>>
}

const fieldsIn = (given: Readonly<Record<string, unknown>>): TypedForm['fields'] =>
  Object.fromEntries(
    FIELDS.flatMap((name) => {
      const value = given[name]
      return typeof value === 'string' || typeof value === 'number' ? [[name, String(value).trim()]] : []
    }),
  )

/** Values that our form cannot send are ignored. */
export function readForm(body: unknown): TypedForm {
  const given = z.record(z.string(), z.unknown()).catch({}).parse(body)
  const chosen = [given.functions].flat()
  return { functions: FUNCTION_IDS.filter((id) => chosen.includes(id)), fields: fieldsIn(given) }
}

const USUAL: readonly FunctionId[] = [...REQUIRED_FUNCTIONS, 'product-pull', 'pay-at-once', 'refund-at-once']

/** The initial form: the current run's choice, otherwise the usual one; everything for the demo partner. */
export async function freshForm(deps: Deps, partnerId: bigint): Promise<TypedForm> {
  const partner = await showPartner(deps, partnerId)
  const isOfDemo = isDemo(deps, partner)
  const usual = {
    functions: isOfDemo ? OFFERED_FUNCTIONS : USUAL,
    products: isOfDemo ? DEMO_PRODUCTS : {},
    quantity: 2,
  }
  const present = (await findCurrentRun(deps, partnerId))?.choice
  const { functions, products, conditions = NO_CONDITIONS, ...others } = { ...usual, ...present }
  const over = isDayOver(others, deps.clock.now()) && { travel_date: '' }
  const faults = Object.fromEntries(FAULTS.filter((fault) => conditions[fault]).map((fault) => [fault, 'on']))
  const fields = fieldsIn({ ...products, ...others, ...over, ...conditions, ...faults })
  return { functions, fields: { ...fields, ...urlFields(partner) } }
}

const urlFields = ({ base_url, interface_urls }: Pick<OutputOf<typeof showPartner>, 'base_url' | 'interface_urls'>) =>
  fieldsIn({ base_url, ...Object.fromEntries(INTERFACES.map(({ name }) => [urlField(name), interface_urls[name]])) })

/** Ignores URLs in a live partner's form: they cannot be changed here. */
export async function settledForm(deps: Deps, partnerId: bigint, form: TypedForm): Promise<TypedForm> {
  const partner = await showPartner(deps, partnerId)
  if (partner.stage !== 'live') return form
  const others = Object.entries(form.fields).filter(([name]) => name !== 'base_url' && !name.startsWith('url.'))
  return { ...form, fields: { ...Object.fromEntries(others), ...urlFields(partner) } }
}

export const isTicked = ({ fields }: TypedForm, fault: (typeof FAULTS)[number]): boolean => fields[fault] === 'on'

/** Input for the schema; an empty field is 0. Undefined if all conditions are at their defaults. */
function conditionsGiven(form: TypedForm) {
  const faults = FAULTS.filter((fault) => isTicked(form, fault))
  if (faults.length === 0 && NUMBERS.every((name) => Number(form.fields[name] ?? 0) === 0)) return undefined
  return Object.fromEntries([
    ...NUMBERS.map((name) => [name, form.fields[name] || '0']),
    ...faults.map((fault) => [fault, true]),
  ])
}

/** `wrong`: the invalid number. */
export function parseConditions(form: TypedForm): Conditions | { readonly wrong: (typeof NUMBERS)[number] } {
  const { data, error } = conditions.safeParse(conditionsGiven(form) ?? {})
  return data ?? { wrong: NUMBERS.find((name) => error?.issues.some(({ path }) => path[0] === name)) ?? 'days_ahead' }
}

/** Contacts left empty are ignored, unless they are stored: acceptance needs them. `required`: at least one. */
export function parseContacts({ fields }: TypedForm, stored: OwnContacts['contacts'], required = false) {
  const none = required && CONTACT_FIELDS.every((name) => !fields[name])
  const given: Partial<Record<ContactRole, ContactPerson>> = {}
  const problems: Record<string, string> = {}
  for (const role of CONTACT_ROLES) {
    const [name, mail] = [fields[contactField(role, 'name')], fields[contactField(role, 'mail')]]
    if (!none && !name && !mail && (stored[role] === undefined || (name === undefined && mail === undefined))) continue
    const read = contactPerson.safeParse({ name: name ?? '', mail: mail ?? '' })
    if (read.success) given[role] = read.data
    for (const { path } of read.error?.issues ?? []) {
      if (path[0] === 'name') problems[contactField(role, 'name')] = 'sandbox.problem.contact_name'
      else problems[contactField(role, 'mail')] = 'sandbox.problem.contact_mail'
    }
  }
  return { given: Object.keys(given).length > 0 ? given : undefined, problems }
}

const PROBLEM_OF: Readonly<Record<string, string>> = {
  main: 'sandbox.problem.product',
  later: 'sandbox.problem.product',
  review: 'sandbox.problem.product',
  level: 'sandbox.problem.product',
  sold_out: 'sandbox.problem.sold_out',
  travel_date: 'sandbox.problem.travel_date',
  unit_price: 'sandbox.problem.price',
  buy_price: 'sandbox.problem.price',
  quantity: 'sandbox.problem.quantity',
  days_ahead: 'sandbox.problem.days_ahead',
  wait_minutes: 'sandbox.problem.wait_minutes',
  pay: 'sandbox.problem.pay',
  refund: 'sandbox.problem.refund',
}

export function parseRunRequest(form: TypedForm, now: Date): { requested: RunRequest } | { problems: Problems } {
  const { functions, fields } = form
  const filledIn = (names: readonly string[]) =>
    Object.fromEntries(names.flatMap((name) => (fields[name] ? [[name, fields[name]]] : [])))
  const conditions = conditionsGiven(form)
  const chosen = choice.safeParse({
    functions,
    products: filledIn(PRODUCT_ROLES),
    ...filledIn(OPTIONAL),
    quantity: fields.quantity ?? '',
    ...(conditions && { conditions }),
  })
  const own = INTERFACES.flatMap(({ name }) => (fields[urlField(name)] ? [[name, fields[urlField(name)]]] : []))
  const urls = updatePartner.input
    .required({ base_url: true, interface_urls: true })
    .safeParse({ base_url: fields.base_url || null, interface_urls: Object.fromEntries(own) })
  const problems = {
    ...choiceProblems(form, chosen.error?.issues ?? []),
    ...urlProblems(form, urls.error?.issues ?? []),
    ...(chosen.data && isDayOver(chosen.data, now) ? { travel_date: 'sandbox.problem.travel_date_over' } : {}),
  }
  if (!chosen.success || !urls.success || Object.keys(problems).length > 0) return { problems }
  const { base_url, interface_urls } = urls.data
  return { requested: { choice: chosen.data, urls: { base_url, interface_urls } } }
}

type Issues = readonly { readonly path: readonly PropertyKey[]; readonly message: string }[]

function choiceProblems({ functions, fields }: TypedForm, issues: Issues): Problems {
  const wrong = [
    ...issues.map(({ path }) => String(path.at(-1))),
    // The schema's cross-field checks do not run while a field is invalid.
    ...(functions.includes('sold-out') && !fields.sold_out ? ['sold_out'] : []),
    ...missingKinds(functions).map(({ kind }) => kind),
  ]
  return Object.fromEntries(wrong.flatMap((field) => (PROBLEM_OF[field] ? [[field, PROBLEM_OF[field]]] : [])))
}

/** The URL is invalid because of its query or fragment. */
const hasQueryOrFragment = (problem: Detail): boolean =>
  typeof problem === 'object' && (problem.id === 'must-have-no-query' || problem.id === 'must-have-no-fragment')

function urlProblems({ functions, fields }: TypedForm, issues: Issues): Problems {
  const values: Record<string, string> = {}
  for (const { path, message } of issues) {
    const field = path[0] === 'base_url' ? 'base_url' : `url.${String(path[1])}`
    values[field] = hasQueryOrFragment(message) ? 'sandbox.problem.url_query' : 'sandbox.problem.url'
  }
  const lacksUrl = interfacesOf(functions).some((name) => !fields[urlField(name)])
  if (!fields.base_url && lacksUrl) values.base_url = 'sandbox.problem.base_url'
  return values
}
