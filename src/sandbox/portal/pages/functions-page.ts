import type { Deps } from '../../../platform/deps.ts'
import { addDays, beijingDate } from '../../../platform/lib/time-zone.ts'
import type { Locale, Translate } from '../../../platform/lib/web/locale.ts'
import { listProducts } from '../../../ticketing/catalogue/index.ts'
import { INTERFACES } from '../../../ticketing/interfaces/index.ts'
import { showPartner } from '../../../ticketing/partners/index.ts'
import type { RunDeps } from '../../certification/index.ts'
import { FAULTS, type FunctionId, MAX_DAYS_AHEAD, MAX_WAIT_MINUTES, REQUIRED_FUNCTIONS } from '../../test-plan/index.ts'
import { ownContacts } from '../contacts.ts'
import { isDemo } from '../demo-partner.ts'
import { interfaceName } from '../interface-title.ts'
import { type InterfacePreflight, preflight } from '../preflight/index.ts'
import { sellerProgress } from '../seller-progress.ts'
import { functionName } from '../texts.ts'
import { type Fault, faultText } from './conditions-form.ts'
import { type ShownContact, shownContacts } from './contacts-form.ts'
import { GROUPS } from './function-groups.ts'
import { type FormTexts, interfacesOf, PRODUCT_ROLES, type Problems, type ProductRole } from './functions-form.ts'
import { type FormProblem, summaryOf } from './functions-summary.ts'
import { type ProgressNotice, progressNotice } from './progress-notice.ts'

/** The page on which functions are chosen. */
export interface FunctionsPage {
  readonly unlocked: boolean
  /** A live partner: its URLs cannot be changed here. */
  readonly live: boolean
  readonly demo: boolean
  readonly groups: readonly FunctionGroup[]
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
  readonly conditions: {
    readonly numbers: readonly (Field & { readonly most: number })[]
    readonly faults: readonly { readonly name: Fault; readonly label: string; readonly chosen: boolean }[]
    /** There is a run that they can be changed of. */
    readonly canChange: boolean
  }
  /** What was just stored. */
  readonly saved: Saved | null
  readonly contacts: readonly ShownContact[]
  readonly problems: Problems
  /** Problems in the order of the page, for the summary at its top: each leads to its field. */
  readonly summary: readonly FormProblem[]
  readonly preflight: readonly InterfacePreflight[] | null
  /** Where the seller stands. */
  readonly notice: ProgressNotice | null
}

interface FunctionGroup {
  readonly id: string
  readonly name: string
  /** What is wrong with what was chosen of it; empty when nothing is. */
  readonly problem: string
  readonly functions: readonly FunctionBox[]
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

/** Tries the URLs of the interfaces that the chosen functions need. */
export function preflightOf(deps: RunDeps, partnerId: bigint, form: FormTexts, locale: Locale) {
  const { base_url, interface_urls, functions } = form
  const needed = interfacesOf([...REQUIRED_FUNCTIONS, ...functions])
  const base = base_url.replace(/\/+$/, '')
  const urls = INTERFACES.filter(({ name }) => needed.includes(name)).map(({ name, defaultPath }) => [
    name,
    interface_urls[name] ?? (base === '' ? '' : base + defaultPath),
  ])
  return preflight(deps, { partnerId }, Object.fromEntries(urls), locale)
}

type Saved = 'contacts' | 'conditions'

export interface Shown {
  readonly form: FormTexts
  /** What was just stored. */
  readonly saved?: Saved
  readonly problems?: Problems
  readonly preflight?: readonly InterfacePreflight[] | null
}

export async function functionsPage(
  deps: Deps,
  partnerId: bigint,
  { form, saved, problems = {}, preflight: tried = null }: Shown,
  t: Translate,
): Promise<FunctionsPage> {
  const [partner, progress, known, contacts] = await Promise.all([
    showPartner(deps, partnerId),
    sellerProgress(deps, partnerId),
    listProducts(deps, { partner_id: partnerId }),
    ownContacts(deps, partnerId),
  ])
  const tomorrow = addDays(beijingDate(deps.clock.now()), 1)
  const field = (name: string, label: string, value: string, instead = ''): Field => {
    const problem = problems[name]
    return { name, label, value, instead, problem: problem ? t(problem) : '' }
  }
  const urls = INTERFACES.map(({ name, defaultPath }) => {
    const instead = form.base_url.replace(/\/+$/, '') + defaultPath
    return field(`url.${name}`, interfaceName(name, t), form.interface_urls[name] ?? '', instead)
  })
  const labels = productLabels(t)
  const page = {
    unlocked: progress.state !== 'locked',
    live: partner.stage === 'live',
    demo: isDemo(deps, partner),
    groups: groupsOf(form, problems, t),
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
    conditions: {
      numbers: [
        {
          ...field('days_ahead', t('sandbox.conditions.days_ahead'), form.conditions.days_ahead),
          most: MAX_DAYS_AHEAD,
        },
        {
          ...field('wait_minutes', t('sandbox.conditions.wait_minutes'), form.conditions.wait_minutes),
          most: MAX_WAIT_MINUTES,
        },
      ],
      faults: FAULTS.map((name) => ({
        name,
        label: faultText(name, t),
        chosen: form.conditions.faults.includes(name),
      })),
      canChange: progress.state === 'under_way' || progress.state === 'all_passed',
    },
    baseUrl: field('base_url', t('sandbox.functions.base_url'), form.base_url),
    urls,
    urlsOpen: urls.some(({ value, problem }) => value !== '' || problem !== ''),
    contacts: shownContacts(contacts, form.contacts, problems, t),
    saved: saved ?? null,
    problems,
    preflight: tried,
    notice: progressNotice(progress, t),
  }
  return { ...page, summary: summaryOf(page, t) }
}

export const productLabels = (t: Translate): Record<ProductRole, string> => ({
  main: t('sandbox.product.main'),
  later: t('sandbox.product.later'),
  review: t('sandbox.product.review'),
  level: t('sandbox.product.level'),
  sold_out: t('sandbox.product.sold_out'),
})

function groupsOf({ functions }: FormTexts, problems: Problems, t: Translate): FunctionGroup[] {
  const problemOf = (id: string): string => {
    const problem = problems[id]
    return problem ? t(problem) : ''
  }
  return GROUPS.map((group) => ({
    id: group.name.slice('sandbox.group.'.length),
    name: t(group.name),
    problem: problemOf(group.name.slice('sandbox.group.'.length)),
    functions: group.functions.map((id) => {
      const required = REQUIRED_FUNCTIONS.includes(id)
      return { id, name: functionName(id, t), chosen: required || functions.includes(id), required }
    }),
  }))
}
