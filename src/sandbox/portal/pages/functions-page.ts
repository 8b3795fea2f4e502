import type { Deps } from '../../../platform/deps.ts'
import { addDays, beijingDate } from '../../../platform/lib/time-zone.ts'
import { keyOf, type Locale, type Translate } from '../../../platform/lib/web/locale.ts'
import { listProducts } from '../../../ticketing/catalogue/index.ts'
import { INTERFACES } from '../../../ticketing/interfaces/index.ts'
import { CONTACT_ROLES, showPartner } from '../../../ticketing/partners/index.ts'
import type { RunDeps } from '../../certification/index.ts'
import {
  FAULTS,
  FUNCTION_GROUPS,
  interfacesOf,
  MAX_DAYS_AHEAD,
  MAX_WAIT_MINUTES,
  PRODUCT_ROLES,
  REQUIRED_FUNCTIONS,
} from '../../test-plan/index.ts'
import { ownContacts } from '../contacts.ts'
import { isDemo } from '../demo-partner.ts'
import { type InterfacePreflight, preflight } from '../preflight/index.ts'
import { type SellerProgress, sellerProgress } from '../seller-progress.ts'
import { contactName, functionName, interfaceName, productName } from '../texts.ts'
import { contactField, isTicked, NUMBERS, type Problems, type TypedForm, urlField } from './functions-form.ts'

export const faultText = (fault: (typeof FAULTS)[number], t: Translate): string => t(`sandbox.conditions.${fault}`)

const baseOf = ({ fields }: TypedForm): string => (fields.base_url ?? '').replace(/\/+$/, '')

/** Runs the pre-flight for the interfaces that the chosen functions need. */
export function preflightOf(deps: RunDeps, partnerId: bigint, form: TypedForm, locale: Locale) {
  const needed = interfacesOf([...REQUIRED_FUNCTIONS, ...form.functions])
  const base = baseOf(form)
  const urls = INTERFACES.filter(({ name }) => needed.includes(name)).map(({ name, defaultPath }) => [
    name,
    form.fields[urlField(name)] || (base === '' ? '' : base + defaultPath),
  ])
  return preflight(deps, partnerId, Object.fromEntries(urls), locale)
}

export interface Shown {
  readonly form: TypedForm
  /** What was just saved. */
  readonly saved?: 'contacts' | 'conditions'
  readonly problems?: Problems
  readonly preflight?: readonly InterfacePreflight[] | null
}

/** `summary` lists the page's problems in order, each with a link to its field. */
export async function functionsPage(deps: Deps, partnerId: bigint, shown: Shown, t: Translate) {
  const page = await partsOf(deps, partnerId, shown, t)
  return { ...page, summary: summaryOf(page, t) }
}

async function partsOf(
  deps: Deps,
  partnerId: bigint,
  { form, saved, problems = {}, preflight: tried = null }: Shown,
  t: Translate,
) {
  const [partner, progress, known, { contacts }] = await Promise.all([
    showPartner(deps, partnerId),
    sellerProgress(deps, partnerId),
    listProducts(deps, { partner_id: partnerId }),
    ownContacts(deps, partnerId),
  ])
  const tomorrow = addDays(beijingDate(deps.clock.now()), 1)
  const { fields } = form
  /** `instead`: used if the field is left empty. `problem`: why the value is invalid; otherwise empty. */
  const field = (name: string, label: string, instead = '') => {
    const problem = problems[name]
    return { name, label, value: fields[name] ?? '', instead, problem: problem ? t(problem) : '' }
  }
  const urls = INTERFACES.map(({ name, defaultPath }) =>
    field(urlField(name), interfaceName(name, t), baseOf(form) + defaultPath),
  )
  return {
    unlocked: progress.state !== 'locked',
    /** URLs cannot be changed here. */
    live: partner.stage === 'live',
    demo: isDemo(deps, partner),
    groups: groupsOf(form, problems, t),
    products: PRODUCT_ROLES.map((role) =>
      field(role, productName(role, t), role === 'main' || role === 'sold_out' ? '' : fields.main),
    ),
    /** Known products of this partner. */
    known: known.map(({ partner_deal_id, title }) => ({ id: partner_deal_id, title: title ?? '' })),
    travelDate: field('travel_date', t('sandbox.choice.travel_date'), tomorrow),
    earliest: tomorrow,
    prices: [field('unit_price', t('sandbox.choice.unit_price')), field('buy_price', t('sandbox.choice.buy_price'))],
    quantity: field('quantity', t('sandbox.choice.quantity')),
    conditions: {
      numbers: NUMBERS.map((name) => ({
        ...field(name, t(`sandbox.conditions.${name}`)),
        most: { days_ahead: MAX_DAYS_AHEAD, wait_minutes: MAX_WAIT_MINUTES }[name],
      })),
      faults: FAULTS.map((name) => ({ name, label: faultText(name, t), chosen: isTicked(form, name) })),
      /** There is a run whose conditions can be changed. */
      canChange: progress.state === 'under_way' || progress.state === 'all_passed',
    },
    baseUrl: field('base_url', t('sandbox.functions.base_url')),
    urls,
    /** An interface has a URL of its own, or a problem with it. */
    urlsOpen: urls.some(({ value, problem }) => value !== '' || problem !== ''),
    contacts: CONTACT_ROLES.map((role) => {
      const stored = contacts[role]
      const shown = (part: 'name' | 'mail', label: string) => {
        const shownField = field(contactField(role, part), label)
        return { ...shownField, value: fields[shownField.name] ?? stored?.[part] ?? '' }
      }
      return {
        legend: contactName(role, t),
        missing: stored === undefined,
        person: shown('name', t('sandbox.contacts.name')),
        mail: shown('mail', t('sandbox.contacts.mail')),
      }
    }),
    saved,
    problems,
    preflight: tried,
    notice: progressNotice(progress, t),
  }
}

function groupsOf({ functions }: TypedForm, problems: Problems, t: Translate) {
  return FUNCTION_GROUPS.map((group) => {
    const problem = problems[group.id]
    return {
      id: group.id,
      name: t(keyOf('sandbox.group.', group.id)),
      /** What is wrong with the choice; otherwise empty. */
      problem: problem ? t(problem) : '',
      functions: group.functions.map((id) => {
        const required = REQUIRED_FUNCTIONS.includes(id)
        return { id, name: functionName(id, t), chosen: required || functions.includes(id), required }
      }),
    }
  })
}

/** All problems in page order. */
function summaryOf(page: Awaited<ReturnType<typeof partsOf>>, t: Translate) {
  const { groups, products, travelDate, prices, quantity, baseUrl, urls, conditions, contacts } = page
  const named = (label: string, text: string): string => t('sandbox.functions.problem', { label, text })
  const fields = [
    ...[...products, travelDate, ...prices, quantity, baseUrl, ...urls, ...conditions.numbers],
    ...contacts.flatMap(({ legend, person, mail }) =>
      [person, mail].map((field) => ({ ...field, label: named(legend, field.label) })),
    ),
  ].map((field) => ({ ...field, href: `#field-${field.name}` }))
  const boxes = groups.map(({ name, problem, functions }) => ({
    label: name,
    problem,
    href: `#function-${functions.find(({ required }) => !required)?.id}`,
  }))
  return [...boxes, ...fields].flatMap(({ href, label, problem }) =>
    problem ? [{ href, text: named(label, problem) }] : [],
  )
}

/** The seller's progress with a link; a line feed in `text` marks the place of `at`. Null before the first run. */
export function progressNotice({ state, present, accepted, isLater }: SellerProgress, t: Translate) {
  const notice = (text: string, href: string, link: string, at?: Date) => ({
    ...{ text, href: `/sandbox/${href}`, link },
    ...(at && { at: at.toISOString() }),
  })
  if (state === 'locked') return notice(t('sandbox.functions.locked'), 'signature', t('sandbox.functions.to_signature'))
  if (!present) return null
  const values = { number: String(present.number), passed: String(present.passed), steps: String(present.steps) }
  const before =
    isLater && accepted ? `${t('sandbox.functions.passed_before', { number: String(accepted.number) })} ` : ''
  switch (state) {
    case 'no_run':
      return null
    case 'under_way':
      return notice(before + t('sandbox.functions.present', values), 'run', t('sandbox.functions.to_run'))
    case 'all_passed':
      return notice(
        before + t('sandbox.functions.all_passed', values),
        'run#acceptance',
        t('sandbox.run.to_acceptance'),
      )
    case 'accepted': {
      const text = t('sandbox.functions.accepted', { ...values, at: '\n' })
      return notice(text, 'run#acceptance', t('sandbox.functions.to_accepted'), accepted?.passed_at)
    }
  }
}
