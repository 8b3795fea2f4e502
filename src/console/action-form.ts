import { hintOf, type Field as InputField, labelOf, shownOnce, typedFields, type Values } from '../actions/index.ts'
import { InvalidInput } from '../lib/json/input.ts'
import { cellFor, changesOf, factsOf, given, shownText, tablesOf } from './action-values.ts'
import type { Action, Fact, Field, OneTimeResult, PageContext } from './page-model.ts'
import {
  aboutOf,
  addressOf,
  adds,
  formPath,
  keysIn,
  linkTo,
  listOf,
  offeredFor,
  type Placed,
  type Places,
  perform,
  recordPageOf,
  titleOf,
} from './placed.ts'
import { count, stateCell, text, yesNo } from './texts.ts'

/** The page shows the record as it is now, not what was typed: a second click must not undo what somebody else has done. */
export class StaleForm extends InvalidInput {}

/** The page of a change: what it does, to what, in numbers, its fields and a button. */
export function formPage(places: Places, change: Placed): Action {
  const list = listOf(places, change)
  const detail = adds(change, list) ? undefined : recordPageOf(places, change)
  const fieldsOfForm = () => typedFields(change).filter(({ name }) => !change.about.includes(name))
  const isEdit = change.method === 'PATCH'
  const recordOf = async (context: PageContext): Promise<Values> =>
    detail ? perform(detail, context, keysIn(detail, context)) : keysIn(change, context)
  return {
    path: formPath(change, list),
    operation: change.route,
    title: titleOf(change),
    ...(isEdit ? { button: 'console.save' } : {}),
    back: (context) => backOf(detail ?? list, keysIn(change, context)),
    confirm: async (context) => {
      const record = await recordOf(context)
      const foreseen = await change.foresee?.(context.deps, keysIn(change, context))
      const others = detail || !list ? [] : offeredFor(places, list, record).filter(({ id }) => id !== change.id)
      return {
        ...(typeof record.name === 'string' ? { about: record.name } : {}),
        says: [context.t(aboutOf(change))],
        facts: [
          ...change.about.map((name) => fact(change, name, record[name], context)),
          ...numbersOf(change, { ...foreseen }, context),
        ],
        fields: fieldsOfForm().map((field) => formFieldOf(change, field, record, context)),
        back: backOf(detail ?? list, { ...keysIn(change, context), ...record }),
        others: others.map((one) => linkTo(places, one, record, context)),
      }
    },
    run: async (context) => {
      const fields = fieldsOfForm()
      const typed = isEdit ? editedIn(fields, await recordOf(context), context) : given(fields, context.fields)
      const output = await perform(change, context, { ...typed, ...keysIn(change, context) })
      if (change.respond) return change.respond(output, context.t)
      if (change.method === 'GET') return answerOf(change, output, context.t)
      const once = shownOnce(change.once, output)
      if (once.length === 0) return undefined
      const values = once.map((name) => ({ name, cells: [{ text: String(output[name]), isCode: true }] }))
      return { note: context.t('console.once.note'), values }
    },
  }
}

function answerOf(asked: Placed, output: Values, t: PageContext['t']): OneTimeResult {
  const verdict = asked.verdict?.(output)
  return {
    ...(verdict ? { tone: verdict.tone } : {}),
    note: t(verdict?.text ?? aboutOf(asked)),
    values: factsOf(asked, output, t),
    tables: tablesOf(asked, output, t),
  }
}

/** The field of a form that says which state of the record it was made for. */
const SEEN = 'unchanged_since'

function formFieldOf(change: Placed, field: InputField, record: Values, context: PageContext): Field {
  if (field.name === SEEN) return { name: SEEN, label: '', kind: 'hidden', value: momentText(record.updated_at) }
  return formField(change, field, context, change.method === 'PATCH' ? record[field.name] : field.initially)
}

const momentText = (at: unknown): string => (at instanceof Date ? at.toISOString() : '')

/** Only what the form changes. Refused if somebody else has changed the record since the page was shown. */
function editedIn(all: readonly InputField[], record: Values, { fields, t }: PageContext): Values {
  const editable = all.filter(({ name }) => name !== SEEN)
  const changes = changesOf(editable, fields, record)
  const seen = fields[SEEN]
  if (seen === momentText(record.updated_at)) return { ...changes, ...(seen === '' ? {} : { [SEEN]: seen }) }
  const changed = editable.filter(({ name }) => name in changes)
  throw new StaleForm([
    { field: '', problem: t('console.stale') },
    ...changed.map((field) => ({
      field: field.name,
      problem: t('console.stale_field', { now: shownText(field, record[field.name]), typed: fields[field.name] ?? '' }),
    })),
  ])
}

const backOf = (page: Placed | undefined, record: Values): string =>
  page ? addressOf(page, page.path, record) : '/console'

const fact = (change: Placed, name: string, value: unknown, { t }: PageContext): Fact => ({
  name: labelOf(t, change, name),
  cells: [cellFor(name, value, t)],
})

const numbersOf = (change: Placed, foreseen: Values, context: PageContext): Fact[] =>
  Object.entries(foreseen)
    .filter(([name]) => !change.about.includes(name))
    .map(([name, value]) =>
      typeof value === 'number'
        ? { name: labelOf(context.t, change, name), cells: [text(count(value))] }
        : fact(change, name, value, context),
    )

const KINDS = {
  text: 'text',
  number: 'number',
  date: 'date',
  switch: 'choice',
  list: 'lines',
  pairs: 'lines',
  json: 'lines',
} as const

export function formField(
  action: Pick<Placed, 'id' | 'list'>,
  field: InputField,
  { t }: PageContext,
  value: unknown,
): Field {
  const { name, kind, choices, required, most, secret } = field
  const hint = hintOf(t, action, name)
  const texts =
    kind === 'switch'
      ? [true, false].map((choice) => [String(choice), yesNo(choice, t).text] as const)
      : kind === 'list'
        ? []
        : choices.map((choice) => [choice, stateCell(choice, t).text] as const)
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
