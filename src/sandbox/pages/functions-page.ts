import { listProducts } from '../../catalogue/index.ts'
import {
  type Choice,
  type FunctionId,
  findPresentRun,
  OFFERED_FUNCTIONS,
  REQUIRED_FUNCTIONS,
} from '../../certification/index.ts'
import type { Deps } from '../../deps.ts'
import { INTERFACES } from '../../interfaces/index.ts'
import { addDays, beijingDate } from '../../lib/beijing.ts'
import type { Locale, Translate } from '../../lib/web/locale.ts'
import { type Partner, showPartner } from '../../registry/index.ts'
import { ownContacts } from '../contacts.ts'
import { type InterfacePreflight, preflight } from '../preflight/index.ts'
import { sellerStanding } from '../standing.ts'
import { functionName } from '../texts.ts'
import { type ShownContact, shownContacts } from './contacts-form.ts'
import { isDemo } from './demo-help.ts'
import { GROUPS } from './function-groups.ts'
import { type FormTexts, interfacesOf, PRODUCT_ROLES, type Problems, type ProductRole } from './functions-form.ts'
import { type PresentNotice, presentNotice } from './present-notice.ts'

/** The page on which functions are chosen. */
export interface FunctionsPage {
  readonly unlocked: boolean
  /** A live partner: its URLs cannot be changed here. */
  readonly live: boolean
  readonly demo: boolean
  readonly groups: readonly { readonly id: string; readonly name: string; readonly functions: readonly FunctionBox[] }[]
  readonly products: readonly Field[]
  /** Products of this partner that are known already. */
  readonly known: readonly { readonly id: string; readonly title: string }[]
  readonly travelDate: Field
  readonly earliest: string
  readonly prices: readonly Field[]
  readonly quantity: Field
  readonly baseUrl: Field
  readonly urls: readonly Field[]
  /** At least one interface has a URL of its own, or a problem with it. */
  readonly urlsOpen: boolean
  readonly contacts: readonly ShownContact[]
  readonly contactsSaved: boolean
  readonly problems: Problems
  readonly preflight: readonly InterfacePreflight[] | null
  /** Where the seller stands. */
  readonly notice: PresentNotice | null
}

interface FunctionBox {
  readonly id: FunctionId
  readonly name: string
  readonly chosen: boolean
  readonly required: boolean
}

interface Field {
  readonly name: string
  readonly label: string
  readonly value: string
  /** What is used when it is left empty. */
  readonly instead: string
  /** What is wrong with it; empty when nothing is. */
  readonly problem: string
}

const DEMO_PRODUCTS: Readonly<Record<ProductRole, string>> = {
  main: 'DEMO-BOAT',
  later: 'DEMO-CASTLE',
  review: 'DEMO-TOWER',
  level: 'DEMO-SHOW',
  sold_out: 'DEMO-SOLD-OUT',
}
const NO_PRODUCTS = Object.fromEntries(PRODUCT_ROLES.map((role) => [role, ''])) as Record<ProductRole, string>
const USUAL: readonly FunctionId[] = [...REQUIRED_FUNCTIONS, 'product-pull', 'pay-at-once', 'refund-at-once']

/** The form before it is filled in: as in the present run, else the usual choice; complete for the demo partner. */
export async function freshForm(deps: Deps, partnerId: bigint): Promise<FormTexts> {
  const partner = await showPartner(deps, partnerId)
  const present = await findPresentRun(deps, partnerId)
  return { ...choiceTexts(present?.choice, isDemo(deps, partner)), ...urlTexts(partner), contacts: {} }
}

function choiceTexts(
  choice: Choice | undefined,
  demo: boolean,
): Omit<FormTexts, 'base_url' | 'interface_urls' | 'contacts'> {
  if (choice) {
    const { functions, products, travel_date, unit_price, buy_price, quantity } = choice
    const named = PRODUCT_ROLES.map((role) => [role, products[role] ?? ''])
    const texts = { products: Object.fromEntries(named) as Record<ProductRole, string>, functions }
    const prices = { unit_price: String(unit_price ?? ''), buy_price: String(buy_price ?? '') }
    return { ...texts, ...prices, travel_date: travel_date ?? '', quantity: String(quantity) }
  }
  const blank = { travel_date: '', unit_price: '', buy_price: '', quantity: '2' }
  return demo
    ? { ...blank, functions: OFFERED_FUNCTIONS, products: DEMO_PRODUCTS }
    : { ...blank, functions: USUAL, products: NO_PRODUCTS }
}

const urlTexts = ({ base_url, interface_urls }: Partner): Pick<FormTexts, 'base_url' | 'interface_urls'> => ({
  base_url: base_url ?? '',
  interface_urls,
})

/** A live partner's URLs are shown and never taken from the form. */
export async function settledForm(deps: Deps, partnerId: bigint, form: FormTexts): Promise<FormTexts> {
  const partner = await showPartner(deps, partnerId)
  return partner.stage === 'live' ? { ...form, ...urlTexts(partner) } : form
}

/** Tries the URLs of the interfaces that the chosen functions need. */
export function preflightOf(deps: Deps, partnerId: bigint, form: FormTexts, locale: Locale) {
  const { base_url, interface_urls, functions } = form
  const needed = interfacesOf([...REQUIRED_FUNCTIONS, ...functions])
  const base = base_url.replace(/\/+$/, '')
  const urls = INTERFACES.filter(({ name }) => needed.includes(name)).map(({ name, defaultPath }) => [
    name,
    interface_urls[name] ?? (base === '' ? '' : base + defaultPath),
  ])
  return preflight(deps, { partnerId }, Object.fromEntries(urls), locale)
}

export interface Shown {
  readonly form: FormTexts
  /** The contacts were just stored. */
  readonly saved?: boolean
  readonly problems?: Problems
  readonly preflight?: readonly InterfacePreflight[] | null
}

export async function functionsPage(
  deps: Deps,
  partnerId: bigint,
  { form, saved = false, problems = {}, preflight: tried = null }: Shown,
  t: Translate,
): Promise<FunctionsPage> {
  const [partner, standing, known, contacts] = await Promise.all([
    showPartner(deps, partnerId),
    sellerStanding(deps, partnerId),
    listProducts(deps, { partner_id: partnerId }),
    ownContacts(deps, partnerId),
  ])
  const tomorrow = addDays(beijingDate(deps.clock.now()), 1)
  const field = (name: string, label: string, value: string, instead = ''): Field => {
    const problem = problems[name]
    return { name, label, value, instead, problem: problem ? t(problem) : '' }
  }
  const urls = INTERFACES.map(({ name, title, defaultPath }) =>
    field(`url.${name}`, title, form.interface_urls[name] ?? '', form.base_url.replace(/\/+$/, '') + defaultPath),
  )
  const labels = productLabels(t)
  return {
    unlocked: standing.state !== 'locked',
    live: partner.stage === 'live',
    demo: isDemo(deps, partner),
    groups: groupsOf(form, t),
    products: PRODUCT_ROLES.map((role) =>
      field(role, labels[role], form.products[role], role === 'main' || role === 'sold_out' ? '' : form.products.main),
    ),
    known: known.map(({ partner_deal_id, title }) => ({ id: partner_deal_id, title: title ?? '' })),
    travelDate: field('travel_date', t('sandbox.choice.travel_date'), form.travel_date, tomorrow),
    earliest: tomorrow,
    prices: [
      field('unit_price', t('sandbox.choice.unit_price'), form.unit_price),
      field('buy_price', t('sandbox.choice.buy_price'), form.buy_price),
    ],
    quantity: field('quantity', t('sandbox.choice.quantity'), form.quantity),
    baseUrl: field('base_url', t('sandbox.functions.base_url'), form.base_url),
    urls,
    urlsOpen: urls.some(({ value, problem }) => value !== '' || problem !== ''),
    contacts: shownContacts(contacts, form.contacts, problems, t),
    contactsSaved: saved,
    problems,
    preflight: tried,
    notice: presentNotice(standing, t),
  }
}

export const productLabels = (t: Translate): Record<ProductRole, string> => ({
  main: t('sandbox.product.main'),
  later: t('sandbox.product.later'),
  review: t('sandbox.product.review'),
  level: t('sandbox.product.level'),
  sold_out: t('sandbox.product.sold_out'),
})

function groupsOf({ functions }: FormTexts, t: Translate): FunctionsPage['groups'] {
  return GROUPS.map((group) => ({
    id: group.name.slice('sandbox.group.'.length),
    name: t(group.name),
    functions: group.functions.map((id) => {
      const required = REQUIRED_FUNCTIONS.includes(id)
      return { id, name: functionName(id, t), chosen: required || functions.includes(id), required }
    }),
  }))
}
