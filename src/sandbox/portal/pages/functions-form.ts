import type { InputOf } from '../../../platform/lib/json/input.ts'
import type { Detail } from '../../../platform/lib/localized-text.ts'
import { INTERFACES, type InterfaceName } from '../../../ticketing/interfaces/index.ts'
import { updatePartner } from '../../../ticketing/partners/index.ts'
import { type Choice, choice, FUNCTION_IDS, type FunctionId } from '../../test-plan/index.ts'
import { type ConditionTexts, type ContactTexts, conditionsGiven, readConditions, readContacts } from './form-parts.ts'

/** The functions as the form lays them out; each is in exactly one group (a test holds that). */
export const GROUPS: readonly { readonly name: string; readonly functions: readonly FunctionId[] }[] = [
  { name: 'sandbox.group.products', functions: ['product-pull', 'product-change', 'poi-pull', 'product-status'] },
  { name: 'sandbox.group.prices', functions: ['price-calendar', 'level-price-calendar'] },
  { name: 'sandbox.group.order', functions: ['order-create', 'sold-out', 'order-query'] },
  { name: 'sandbox.group.pay', functions: ['pay-at-once', 'pay-later'] },
  { name: 'sandbox.group.use', functions: ['consumption'] },
  { name: 'sandbox.group.refund', functions: ['refund-at-once', 'refund-after-review', 'refunded-message'] },
  { name: 'sandbox.group.change', functions: ['order-close', 'order-reschedule'] },
  { name: 'sandbox.group.account', functions: ['balance-query', 'heartbeat'] },
  { name: 'sandbox.group.robustness', functions: ['robustness'] },
]

/** The interface that a function is offered at; nothing for what the partner sends to us. */
export const INTERFACE_OF: Readonly<Record<FunctionId, InterfaceName | undefined>> = {
  'product-pull': 'product-pull',
  'product-change': undefined,
  'poi-pull': 'poi-pull',
  'price-calendar': 'price-calendar',
  'level-price-calendar': 'level-price-calendar',
  'order-create': 'order-create',
  'sold-out': 'order-create',
  'pay-at-once': 'order-pay',
  'pay-later': 'order-pay',
  'order-query': 'order-query',
  consumption: undefined,
  'refund-at-once': 'order-refund',
  'refund-after-review': 'order-refund',
  'order-close': 'order-close',
  'order-reschedule': 'order-reschedule',
  'refunded-message': 'order-refunded',
  'balance-query': 'balance-query',
  'product-status': 'product-status',
  heartbeat: 'heartbeat',
  robustness: undefined,
}

export const PRODUCT_ROLES = ['main', 'later', 'review', 'level', 'sold_out'] as const
export type ProductRole = (typeof PRODUCT_ROLES)[number]

/** The form as it was filled in, so that it can be shown again whatever was typed. */
export interface FormTexts {
  readonly functions: readonly FunctionId[]
  readonly products: Readonly<Record<ProductRole, string>>
  readonly travel_date: string
  readonly unit_price: string
  readonly buy_price: string
  readonly quantity: string
  readonly base_url: string
  readonly interface_urls: Readonly<Partial<Record<InterfaceName, string>>>
  readonly contacts: ContactTexts
  readonly conditions: ConditionTexts
}

/** A field (`main`, `quantity`, `base_url`, `url.order-create`, `pay`, `refund`) → key of the text that says what is wrong. */
export type Problems = Readonly<Record<string, string>>

export interface RunRequest {
  readonly choice: Choice
  readonly urls: Required<Pick<InputOf<typeof updatePartner>, 'base_url' | 'interface_urls'>>
}

const text = (value: unknown): string => (typeof value === 'string' ? value.trim() : '')

/** Reads a form; values that our form cannot send count as empty. */
export function readForm(body: unknown): FormTexts {
  const fields = (typeof body === 'object' && body !== null ? body : {}) as Readonly<Record<string, unknown>>
  const chosen = [fields.functions].flat()
  const products = PRODUCT_ROLES.map((role) => [role, text(fields[role])])
  const urls = INTERFACES.map(({ name }) => [name, text(fields[`url.${name}`])]).filter(([, url]) => url !== '')
  return {
    functions: FUNCTION_IDS.filter((id) => chosen.includes(id)),
    products: Object.fromEntries(products),
    travel_date: text(fields.travel_date),
    unit_price: text(fields.unit_price),
    buy_price: text(fields.buy_price),
    quantity: text(fields.quantity),
    base_url: text(fields.base_url),
    interface_urls: Object.fromEntries(urls),
    contacts: readContacts(fields),
    conditions: readConditions(fields),
  }
}

/** The interfaces that these functions are offered at. */
export const interfacesOf = (functions: readonly FunctionId[]): InterfaceName[] => [
  ...new Set(functions.flatMap((id) => INTERFACE_OF[id] ?? [])),
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

/** The choice and the URLs that the form stands for, or what is wrong with it. */
export function parseRunRequest(form: FormTexts): { requested: RunRequest } | { problems: Problems } {
  const given = Object.entries(form.products).filter(([, product]) => product !== '')
  const pretended = conditionsGiven(form.conditions)
  const chosen = choice.safeParse({
    functions: form.functions,
    products: Object.fromEntries(given),
    ...filledIn(form, 'travel_date', 'unit_price', 'buy_price'),
    quantity: form.quantity,
    ...(pretended && { conditions: pretended }),
  })
  const { base_url, interface_urls } = form
  const urls = updatePartner.input.required({ base_url: true, interface_urls: true }).safeParse({
    base_url: base_url === '' ? null : base_url,
    interface_urls,
  })
  const problems = {
    ...choiceProblems(form, chosen.error?.issues ?? []),
    ...urlProblems(form, urls.error?.issues ?? []),
  }
  if (!chosen.success || !urls.success || Object.keys(problems).length > 0) return { problems }
  const { base_url: base, interface_urls: own } = urls.data
  return { requested: { choice: chosen.data, urls: { base_url: base, interface_urls: own } } }
}

type OptionalText = 'travel_date' | 'unit_price' | 'buy_price'

const filledIn = (form: FormTexts, ...names: readonly OptionalText[]): Partial<Record<OptionalText, string>> =>
  Object.fromEntries(names.flatMap((name) => (form[name] === '' ? [] : [[name, form[name]]])))

type Issues = readonly { readonly path: readonly PropertyKey[]; readonly message: string }[]

function choiceProblems({ functions, products }: FormTexts, issues: Issues): Problems {
  const values: Record<string, string> = {}
  for (const { path } of issues) {
    const field = String(path.at(-1) ?? '')
    if (field in PROBLEM_OF) values[field] = PROBLEM_OF[field] ?? ''
  }
  // The schema does not check fields against each other while one of them is wrong.
  if (functions.includes('sold-out') && products.sold_out === '') values.sold_out = 'sandbox.problem.sold_out'
  if (!functions.some((id) => id.startsWith('pay-'))) values.pay = 'sandbox.problem.pay'
  if (!functions.some((id) => id === 'refund-at-once' || id === 'refund-after-review')) {
    values.refund = 'sandbox.problem.refund'
  }
  return values
}

/** Whether what is wrong with a URL is its query or fragment. */
const hasMore = (problem: Detail): boolean =>
  typeof problem === 'object' && (problem.id === 'must-have-no-query' || problem.id === 'must-have-no-fragment')

function urlProblems(form: FormTexts, issues: Issues): Problems {
  const values: Record<string, string> = {}
  for (const { path, message } of issues) {
    const field = path[0] === 'base_url' ? 'base_url' : `url.${String(path[1])}`
    values[field] = hasMore(message) ? 'sandbox.problem.url_query' : 'sandbox.problem.url'
  }
  const without = interfacesOf(form.functions).filter((name) => !form.interface_urls[name])
  if (form.base_url === '' && without.length > 0) values.base_url = 'sandbox.problem.base_url'
  return values
}
