import type { Translate } from '../../../platform/lib/web/locale.ts'
import { type Conditions, conditions, FAULTS, NO_CONDITIONS } from '../../test-plan/index.ts'

/** What a run pretends, on the page of functions: read from the form, checked, and shown again as it was typed. */
export interface ConditionTexts extends Readonly<Record<(typeof NUMBERS)[number], string>> {
  /** The boxes that are ticked. */
  readonly faults: readonly Fault[]
}

/** The fields that hold a number. */
export const NUMBERS = ['days_ahead', 'wait_minutes'] as const satisfies (keyof Conditions)[]

export type Fault = (typeof FAULTS)[number]

const numbers = (textOf: (name: (typeof NUMBERS)[number]) => string) =>
  Object.fromEntries(NUMBERS.map((name) => [name, textOf(name)])) as Record<(typeof NUMBERS)[number], string>

/** A box that is not ticked is not sent. */
export const readConditions = (fields: Readonly<Record<string, unknown>>): ConditionTexts => ({
  ...numbers((name) => {
    const typed = fields[name]
    return typeof typed === 'string' ? typed.trim() : ''
  }),
  faults: FAULTS.filter((fault) => fields[fault] === 'on'),
})

export const conditionTexts = (chosen: Conditions = NO_CONDITIONS): ConditionTexts => ({
  ...numbers((name) => String(chosen[name])),
  faults: FAULTS.filter((fault) => chosen[fault]),
})

/** The form's fields, to be sent again. */
export const conditionFields = ({ faults, ...typed }: ConditionTexts): (readonly [string, string])[] => [
  ...NUMBERS.map((name) => [name, typed[name]] as const),
  ...faults.map((fault) => [fault, 'on'] as const),
]

/** As the schema takes them; an empty field is 0. Undefined when nothing differs from the usual. */
export const conditionsGiven = ({ faults, ...typed }: ConditionTexts) =>
  NUMBERS.every((name) => Number(typed[name]) === 0) && faults.length === 0
    ? undefined
    : { ...numbers((name) => typed[name] || '0'), ...Object.fromEntries(faults.map((fault) => [fault, true])) }

/** Or the number that is wrong. */
export function parseConditions(texts: ConditionTexts): Conditions | { readonly wrong: (typeof NUMBERS)[number] } {
  const { data, error } = conditions.safeParse(conditionsGiven(texts) ?? {})
  return data ?? { wrong: NUMBERS.find((name) => error?.issues.some(({ path }) => path[0] === name)) ?? 'days_ahead' }
}

const LABELS = {
  sends_twice: 'sandbox.conditions.sends_twice',
  is_slow: 'sandbox.conditions.is_slow',
  out_of_order: 'sandbox.conditions.out_of_order',
} as const satisfies Record<Fault, string>

export const faultText = (fault: Fault, t: Translate): string => t(LABELS[fault])
