import type { Deps } from '../../../platform/deps.ts'
import { addDays, beijingDate } from '../../../platform/lib/time-zone.ts'
import { keyOf, type Locale, type Translate } from '../../../platform/lib/web/locale.ts'
import { listProducts } from '../../../ticketing/catalogue/index.ts'
import { INTERFACES } from '../../../ticketing/interfaces/index.ts'
import { showPartner } from '../../../ticketing/partners/index.ts'
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
import { functionName, interfaceName, productName } from '../texts.ts'
import { faultText, NUMBERS, shownContacts } from './form-parts.ts'
import type { FormTexts, Problems } from './functions-form.ts'

interface Field {
  readonly name: string
  readonly label: string
  readonly value: string
  /** Used if the field is left empty. */
  readonly instead: string
  /** Why the value is invalid; otherwise empty. */
  readonly problem: string
}

/** Runs the pre-flight for the interfaces that the chosen functions need. */
export function preflightOf(deps: RunDeps, partnerId: bigint, form: FormTexts, locale: Locale) {
  const { texts, interface_urls, functions } = form
  const needed = interfacesOf([...REQUIRED_FUNCTIONS, ...functions])
  const base = texts.base_url.replace(/\/+$/, '')
  const urls = INTERFACES.filter(({ name }) => needed.includes(name)).map(({ name, defaultPath }) => [
    name,
    interface_urls[name] ?? (base === '' ? '' : base + defaultPath),
  ])
  return preflight(deps, partnerId, Object.fromEntries(urls), locale)
}

export interface Shown {
  readonly form: FormTexts
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
  const [partner, progress, known, contacts] = await Promise.all([
    showPartner(deps, partnerId),
    sellerProgress(deps, partnerId),
    listProducts(deps, { partner_id: partnerId }),
    ownContacts(deps, partnerId),
  ])
  const tomorrow = addDays(beijingDate(deps.clock.now()), 1)
  const { texts, interface_urls } = form
  const problemOf = (name: string): string => (problems[name] ? t(problems[name]) : '')
  const field = (name: keyof typeof texts, label: string, instead = ''): Field => ({
    ...{ name, label, value: texts[name], instead, problem: problemOf(name) },
  })
  const base = texts.base_url.replace(/\/+$/, '')
  const urls = INTERFACES.map(({ name, defaultPath }): Field => {
    const own = `url.${name}`
    const value = interface_urls[name] ?? ''
    return { name: own, label: interfaceName(name, t), value, instead: base + defaultPath, problem: problemOf(own) }
  })
  return {
    unlocked: progress.state !== 'locked',
    /** URLs cannot be changed here. */
    live: partner.stage === 'live',
    demo: isDemo(deps, partner),
    groups: groupsOf(form, problems, t),
    products: PRODUCT_ROLES.map((role) =>
      field(role, productName(role, t), role === 'main' || role === 'sold_out' ? '' : texts.main),
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
      faults: FAULTS.map((name) => ({
        ...{ name, label: faultText(name, t), chosen: form.faults.includes(name) },
      })),
      /** There is a run whose conditions can be changed. */
      canChange: progress.state === 'under_way' || progress.state === 'all_passed',
    },
    baseUrl: field('base_url', t('sandbox.functions.base_url')),
    urls,
    /** An interface has a URL of its own, or a problem with it. */
    urlsOpen: urls.some(({ value, problem }) => value !== '' || problem !== ''),
    contacts: shownContacts(contacts, form.contacts, problems, t),
    saved,
    problems,
    preflight: tried,
    notice: progressNotice(progress, t),
  }
}

function groupsOf({ functions }: FormTexts, problems: Problems, t: Translate) {
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
