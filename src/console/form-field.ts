import { choiceOf, hintOf, type Field as InputField, labelOf } from '../actions/index.ts'
import { shownText } from './action-values.ts'
import type { Field, PageContext } from './page-model.ts'
import type { Placed } from './placed.ts'
import { stateCell, yesNo } from './texts.ts'

const KINDS = {
  text: 'text',
  number: 'number',
  date: 'date',
  switch: 'choice',
  list: 'lines',
  pairs: 'lines',
  json: 'lines',
} as const

export function formField(action: Placed, field: InputField, { t }: PageContext, value: unknown): Field {
  const { name, kind, choices, required, most, secret } = field
  // A browser asks for a day by itself.
  const hint = action.list && kind === 'date' ? undefined : hintOf(t, action, name)
  const texts =
    kind === 'switch'
      ? [true, false].map((choice) => [String(choice), yesNo(choice, t).text] as const)
      : kind === 'list'
        ? []
        : choices.map((choice) => [choice, choiceOf(t, action, name, choice) ?? stateCell(choice, t).text] as const)
  return {
    name,
    label: labelOf(t, action, name),
    kind: secret ? 'password' : texts.length > 0 ? 'choice' : KINDS[kind],
    ...(texts.length > 0 ? { choices: texts } : {}),
    ...(required ? { required } : {}),
    ...(hint === undefined ? {} : { hint }),
    ...(most === undefined ? {} : { most }),
    value: shownText(field, value),
  }
}
