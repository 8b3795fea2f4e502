import type { Deps } from '../../../platform/deps.ts'
import type { InputOf } from '../../../platform/lib/json/input.ts'
import type { Detail } from '../../../platform/lib/localized-text.ts'
import { INTERFACES, type InterfaceName } from '../../../ticketing/interfaces/index.ts'
import { showPartner, updatePartner } from '../../../ticketing/partners/index.ts'
import { findCurrentRun } from '../../certification/index.ts'
import {
  type Choice,
  choice,
  FAULTS,
  FUNCTION_IDS,
  type FunctionId,
  interfacesOf,
  isDayOver,
  NO_CONDITIONS,
  OFFERED_FUNCTIONS,
  PRODUCT_ROLES,
  REQUIRED_FUNCTIONS,
} from '../../test-plan/index.ts'
import { DEMO_PRODUCTS, isDemo } from '../demo-partner.ts'
import { type ContactTexts, conditionsGiven, type Fault, NUMBERS, readContacts } from './form-parts.ts'

/** Fields of the choice that may be left empty. */
const OPTIONAL = ['travel_date', 'unit_price', 'buy_price'] as const
const TEXTS = [...PRODUCT_ROLES, ...OPTIONAL, 'quantity', 'base_url', ...NUMBERS] as const

/** The form as typed, so that it can be shown again. */
export interface FormTexts {
  readonly functions: readonly FunctionId[]
  readonly texts: Readonly<Record<(typeof TEXTS)[number], string>>
  readonly interface_urls: Readonly<Partial<Record<InterfaceName, string>>>
  readonly contacts: ContactTexts
  readonly faults: readonly Fault[]
}

/** Field or group (`main`, `url.order-create`, `pay`, `refund`, …) → key of the text that says what is wrong. */
export type Problems = Readonly<Record<string, string>>

export interface RunRequest {
  readonly choice: Choice
  readonly urls: Required<Pick<InputOf<typeof updatePartner>, 'base_url' | 'interface_urls'>>
}

const text = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value).trim() : ''

const formTexts = (given: Readonly<Record<string, unknown>>): FormTexts['texts'] =>
  Object.fromEntries(TEXTS.map((name) => [name, text(given[name])])) as FormTexts['texts']

/** Values that our form cannot send count as empty. */
export function readForm(body: unknown): FormTexts {
  const fields = (typeof body === 'object' && body !== null ? body : {}) as Readonly<Record<string, unknown>>
  const chosen = [fields.functions].flat()
  const urls = INTERFACES.map(({ name }) => [name, text(fields[`url.${name}`])]).filter(([, url]) => url !== '')
  return {
    functions: FUNCTION_IDS.filter((id) => chosen.includes(id)),
    texts: formTexts(fields),
    interface_urls: Object.fromEntries(urls),
    contacts: readContacts(fields),
    faults: FAULTS.filter((fault) => fields[fault] === 'on'), // a box that is not ticked is not sent
  }
}

const USUAL: readonly FunctionId[] = [...REQUIRED_FUNCTIONS, 'product-pull', 'pay-at-once', 'refund-at-once']

/** The initial form: the current run's choice, otherwise the usual one; everything for the demo partner. */
export async function freshForm(deps: Deps, partnerId: bigint): Promise<FormTexts> {
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
  return {
    functions,
    texts: formTexts({ ...products, ...others, ...over, ...conditions, base_url: partner.base_url }),
    interface_urls: partner.interface_urls,
    contacts: {},
    faults: FAULTS.filter((fault) => conditions[fault]),
  }
}

/** Ignores URLs in a live partner's form: they cannot be changed here. */
export async function settledForm(deps: Deps, partnerId: bigint, form: FormTexts): Promise<FormTexts> {
  const { stage, base_url, interface_urls } = await showPartner(deps, partnerId)
  return stage === 'live' ? { ...form, texts: { ...form.texts, base_url: base_url ?? '' }, interface_urls } : form
}

/** Names and values of the form's fields, to be sent again. */
export const formFields = ({ functions, texts, interface_urls, contacts, faults }: FormTexts) => [
  ...functions.map((id) => ['functions', id]),
  ...Object.entries(texts),
  ...faults.map((fault) => [fault, 'on']),
  ...Object.entries(contacts),
  ...Object.entries(interface_urls).map(([name, url]) => [`url.${name}`, url]),
]

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
}

export function parseRunRequest(form: FormTexts, now: Date): { requested: RunRequest } | { problems: Problems } {
  const { texts, interface_urls } = form
  const filledIn = <Name extends keyof typeof texts>(names: readonly Name[]) =>
    Object.fromEntries(names.flatMap((name) => (texts[name] === '' ? [] : [[name, texts[name]]])))
  const conditions = conditionsGiven(form)
  const chosen = choice.safeParse({
    functions: form.functions,
    products: filledIn(PRODUCT_ROLES),
    ...filledIn(OPTIONAL),
    quantity: texts.quantity,
    ...(conditions && { conditions }),
  })
  const base_url = texts.base_url || null
  const urls = updatePartner.input
    .required({ base_url: true, interface_urls: true })
    .safeParse({ base_url, interface_urls })
  const problems = {
    ...choiceProblems(form, chosen.error?.issues ?? []),
    ...urlProblems(form, urls.error?.issues ?? []),
    ...(chosen.data && isDayOver(chosen.data, now) ? { travel_date: 'sandbox.problem.travel_date_over' } : {}),
  }
  if (!chosen.success || !urls.success || Object.keys(problems).length > 0) return { problems }
  const { base_url: base, interface_urls: own } = urls.data
  return { requested: { choice: chosen.data, urls: { base_url: base, interface_urls: own } } }
}

type Issues = readonly { readonly path: readonly PropertyKey[]; readonly message: string }[]

function choiceProblems({ functions, texts }: FormTexts, issues: Issues): Problems {
  const values: Record<string, string> = {}
  for (const { path } of issues) {
    const field = String(path.at(-1) ?? '')
    if (field in PROBLEM_OF) values[field] = PROBLEM_OF[field] ?? ''
  }
  // The schema's cross-field checks do not run while a field is invalid.
  if (functions.includes('sold-out') && texts.sold_out === '') values.sold_out = 'sandbox.problem.sold_out'
  if (!functions.some((id) => id.startsWith('pay-'))) values.pay = 'sandbox.problem.pay'
  if (!functions.some((id) => id === 'refund-at-once' || id === 'refund-after-review')) {
    values.refund = 'sandbox.problem.refund'
  }
  return values
}

/** The URL is invalid because of its query or fragment. */
const hasQueryOrFragment = (problem: Detail): boolean =>
  typeof problem === 'object' && (problem.id === 'must-have-no-query' || problem.id === 'must-have-no-fragment')

function urlProblems(form: FormTexts, issues: Issues): Problems {
  const values: Record<string, string> = {}
  for (const { path, message } of issues) {
    const field = path[0] === 'base_url' ? 'base_url' : `url.${String(path[1])}`
    values[field] = hasQueryOrFragment(message) ? 'sandbox.problem.url_query' : 'sandbox.problem.url'
  }
  const without = interfacesOf(form.functions).filter((name) => !form.interface_urls[name])
  if (form.texts.base_url === '' && without.length > 0) values.base_url = 'sandbox.problem.base_url'
  return values
}
