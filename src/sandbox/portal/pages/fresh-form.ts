import type { Deps } from '../../../platform/deps.ts'
import type { OutputOf } from '../../../platform/lib/json/input.ts'
import { showPartner } from '../../../ticketing/partners/index.ts'
import { findCurrentRun } from '../../certification/index.ts'
import { type Choice, type FunctionId, OFFERED_FUNCTIONS, REQUIRED_FUNCTIONS } from '../../test-plan/index.ts'
import { DEMO_PRODUCTS, isDemo } from '../demo-partner.ts'
import { conditionTexts } from './form-parts.ts'
import { type FormTexts, PRODUCT_ROLES, type ProductRole } from './functions-form.ts'

const NO_PRODUCTS = Object.fromEntries(PRODUCT_ROLES.map((role) => [role, ''])) as Record<ProductRole, string>
const USUAL: readonly FunctionId[] = [...REQUIRED_FUNCTIONS, 'product-pull', 'pay-at-once', 'refund-at-once']

/** The form before it is filled in: as in the present run, else the usual choice; complete for the demo partner. */
export async function freshForm(deps: Deps, partnerId: bigint): Promise<FormTexts> {
  const partner = await showPartner(deps, partnerId)
  const present = await findCurrentRun(deps, partnerId)
  return { ...choiceTexts(present?.choice, isDemo(deps, partner)), ...urlTexts(partner), contacts: {} }
}

function choiceTexts(
  choice: Choice | undefined,
  demo: boolean,
): Omit<FormTexts, 'base_url' | 'interface_urls' | 'contacts'> {
  if (choice) {
    const { functions, products, travel_date, unit_price, buy_price, quantity, conditions } = choice
    const named = PRODUCT_ROLES.map((role) => [role, products[role] ?? ''])
    const texts = {
      products: Object.fromEntries(named) as Record<ProductRole, string>,
      functions,
      conditions: conditionTexts(conditions),
    }
    const prices = { unit_price: String(unit_price ?? ''), buy_price: String(buy_price ?? '') }
    return { ...texts, ...prices, travel_date: travel_date ?? '', quantity: String(quantity) }
  }
  const blank = { travel_date: '', unit_price: '', buy_price: '', quantity: '2', conditions: conditionTexts() }
  return demo
    ? { ...blank, functions: OFFERED_FUNCTIONS, products: DEMO_PRODUCTS }
    : { ...blank, functions: USUAL, products: NO_PRODUCTS }
}

const urlTexts = ({
  base_url,
  interface_urls,
}: OutputOf<typeof showPartner>): Pick<FormTexts, 'base_url' | 'interface_urls'> => ({
  base_url: base_url ?? '',
  interface_urls,
})

/** A live partner's URLs are shown and never taken from the form. */
export async function settledForm(deps: Deps, partnerId: bigint, form: FormTexts): Promise<FormTexts> {
  const partner = await showPartner(deps, partnerId)
  return partner.stage === 'live' ? { ...form, ...urlTexts(partner) } : form
}
