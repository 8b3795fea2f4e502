import { type Conditions, conditions, NO_CONDITIONS } from '../../certification/index.ts'

/** What a run pretends, on the page of functions: read from the form, checked, and shown again as it was typed. */
export interface ConditionTexts {
  readonly days_ahead: string
  readonly sends_twice: boolean
}

/** A box that is not ticked is not sent. */
export const readConditions = (fields: Readonly<Record<string, unknown>>): ConditionTexts => ({
  days_ahead: typeof fields.days_ahead === 'string' ? fields.days_ahead.trim() : '',
  sends_twice: fields.sends_twice === 'on',
})

export const conditionTexts = ({ days_ahead, sends_twice }: Conditions = NO_CONDITIONS): ConditionTexts => ({
  days_ahead: String(days_ahead),
  sends_twice,
})

/** The form's fields, to be sent again. */
export const conditionFields = ({ days_ahead, sends_twice }: ConditionTexts): (readonly [string, string])[] => [
  ['days_ahead', days_ahead],
  ...(sends_twice ? [['sends_twice', 'on'] as const] : []),
]

/** As the schema takes them; an empty field is today. Undefined when nothing is pretended. */
export const conditionsGiven = ({ days_ahead, sends_twice }: ConditionTexts) =>
  Number(days_ahead) === 0 && !sends_twice ? undefined : { days_ahead: days_ahead || '0', sends_twice }

/** Undefined when the number of days is wrong. */
export const parseConditions = (texts: ConditionTexts): Conditions | undefined =>
  conditions.safeParse(conditionsGiven(texts) ?? {}).data
