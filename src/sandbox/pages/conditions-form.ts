import type { Translate } from '../../lib/web/locale.ts'
import { type Conditions, conditions, FAULTS, NO_CONDITIONS } from '../../test-plan/index.ts'

/** What a run pretends, on the page of functions: read from the form, checked, and shown again as it was typed. */
export interface ConditionTexts {
  readonly days_ahead: string
  /** The boxes that are ticked. */
  readonly faults: readonly Fault[]
}

export type Fault = (typeof FAULTS)[number]

/** A box that is not ticked is not sent. */
export const readConditions = (fields: Readonly<Record<string, unknown>>): ConditionTexts => ({
  days_ahead: typeof fields.days_ahead === 'string' ? fields.days_ahead.trim() : '',
  faults: FAULTS.filter((fault) => fields[fault] === 'on'),
})

export const conditionTexts = ({ days_ahead, ...chosen }: Conditions = NO_CONDITIONS): ConditionTexts => ({
  days_ahead: String(days_ahead),
  faults: FAULTS.filter((fault) => chosen[fault]),
})

/** The form's fields, to be sent again. */
export const conditionFields = ({ days_ahead, faults }: ConditionTexts): (readonly [string, string])[] => [
  ['days_ahead', days_ahead],
  ...faults.map((fault) => [fault, 'on'] as const),
]

/** As the schema takes them; an empty field is today. Undefined when nothing is pretended. */
export const conditionsGiven = ({ days_ahead, faults }: ConditionTexts) =>
  Number(days_ahead) === 0 && faults.length === 0
    ? undefined
    : { days_ahead: days_ahead || '0', ...Object.fromEntries(faults.map((fault) => [fault, true])) }

/** Undefined when the number of days is wrong. */
export const parseConditions = (texts: ConditionTexts): Conditions | undefined =>
  conditions.safeParse(conditionsGiven(texts) ?? {}).data

const LABELS = {
  sends_twice: 'sandbox.conditions.sends_twice',
  is_slow: 'sandbox.conditions.is_slow',
  out_of_order: 'sandbox.conditions.out_of_order',
} as const satisfies Record<Fault, string>

export const faultText = (fault: Fault, t: Translate): string => t(LABELS[fault])
