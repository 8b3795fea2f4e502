import type { Translate } from '../../../platform/lib/web/locale.ts'
import { type Choice, FAULTS, NO_CONDITIONS, travelDate } from '../../test-plan/index.ts'
import { functionName } from '../texts.ts'
import { faultText } from './conditions-form.ts'

/** The choice of a run, for people to read. */
export interface ShownChoice {
  readonly functions: readonly string[]
  readonly facts: readonly (readonly [label: string, value: string])[]
}

export function shownChoice(choice: Choice, startedAt: Date, t: Translate): ShownChoice {
  const { functions, products, unit_price, buy_price, quantity, conditions = NO_CONDITIONS } = choice
  const named: [string, string | undefined][] = [
    [t('sandbox.product.main'), products.main],
    [t('sandbox.product.later'), products.later],
    [t('sandbox.product.review'), products.review],
    [t('sandbox.product.level'), products.level],
    [t('sandbox.product.sold_out'), products.sold_out],
    [t('sandbox.choice.travel_date'), travelDate(choice, startedAt)],
    [t('sandbox.choice.unit_price'), unit_price?.toFixed(2)],
    [t('sandbox.choice.buy_price'), buy_price?.toFixed(2)],
    [t('sandbox.choice.quantity'), String(quantity)],
    [t('sandbox.conditions.days_ahead'), conditions.days_ahead > 0 ? String(conditions.days_ahead) : undefined],
    [t('sandbox.conditions.wait_minutes'), conditions.wait_minutes > 0 ? String(conditions.wait_minutes) : undefined],
    ...FAULTS.filter((fault) => conditions[fault]).map((fault): [string, string] => [
      t('sandbox.conditions.title'),
      faultText(fault, t),
    ]),
  ]
  return {
    functions: functions.map((id) => functionName(id, t)),
    facts: named.flatMap(([label, value]) => (value === undefined ? [] : [[label, value] as const])),
  }
}
