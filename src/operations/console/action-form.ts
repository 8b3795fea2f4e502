import { InvalidInput } from '../../platform/lib/json/input.ts'
import { localized } from '../../platform/lib/localized-text.ts'
import { ISOLATES } from '../../platform/lib/web/locale.ts'
import {
  choiceOf,
  fieldsOf,
  hintOf,
  type Field as InputField,
  labelOf,
  nameOfFact,
  recordIn,
  type Values,
  withCounts,
} from '../actions/index.ts'
import { cellFor, changesOf, readFields, shownText } from './action-values.ts'
import type { Created, Fact, Field, FormPage, PageContext } from './page-model.ts'
import {
  aboutOf,
  addressOf,
  adds,
  belongsToList,
  carryOut,
  detailOf,
  fieldsFor,
  formPath,
  homeOf,
  keysIn,
  linkTo,
  listOf,
  nameIn,
  offeredOn,
  type Placed,
  type Places,
  perform,
  titleOf,
} from './placed.ts'
import { resultOf } from './record-parts.ts'
import { at, count, stateCell, text, yesNo } from './texts.ts'

/** The form comes back with the record's present values: a second click must not undo another person's change. */
export class StaleForm extends InvalidInput {}

/** The page of a change: its explanation, the record, its effect in numbers, its fields and a button. */
export function formPage(places: Places, change: Placed): FormPage {
  const list = listOf(places, change)
  const home = homeOf(places, change)
  const detail = home?.list || belongsToList(places, change, list) ? undefined : home
  const asks = ({ role }: PageContext) =>
    fieldsFor(change, role).map((field) => ({ ...field, required: field.required || change.asks.includes(field.name) }))
  const isEdit = change.method === 'PATCH'
  const recordOf = async (context: PageContext): Promise<Values> => ({
    ...keysIn(change, context),
    ...(detail && recordIn(detail.record, await perform(detail, context, keysIn(detail, context)))[0]),
  })
  return {
    path: formPath(places, change, list),
    operation: change.operation,
    ...(change.upload ? { upload: change.upload } : {}),
    title: titleOf(change),
    ...(change.dangerous ? { isDangerous: true } : {}),
    ...(isEdit || change.present ? { button: 'layout.save' } : {}),
    exactly: () => fieldsOf(change).flatMap(({ name, secret }) => (secret ? [name] : [])),
    back: (context) => (change.after ? at(change.after.slice(1)) : backOf(detail ?? list, keysIn(change, context))),
    confirm: async (context) => {
      const record = await recordOf(context)
      const suggested = change.suggested?.(context.deps) ?? {}
      const foreseen = await change.foresee?.(context.deps, keysIn(change, context))
      const offers = await change.offers?.(context.deps)
      const others = detail || !list ? [] : offeredOn(places, list)(record).filter(({ id }) => id !== change.id)
      const about = nameIn(record)
      return {
        ...(typeof about === 'string' ? { about } : {}),
        says: [context.t(aboutOf(change))],
        facts: [
          ...[...change.about, ...Object.keys(decidedIn(change, record))].map((name) =>
            factOf(change, name, record, context),
          ),
          ...numbersOf(change, { ...foreseen }, context),
        ],
        fields: [
          ...asks(context).map((field) => ({
            ...formFieldOf(change, field, record, context, suggested),
            ...(offers?.[field.name] ? { offers: offers[field.name] } : {}),
          })),
          ...(isEdit || change.present || change.about.length === 0
            ? []
            : clearedField(change, asks(context), context)),
          ...retypedField(change, record, context),
        ],
        back: backOf(detail ?? list, { ...keysIn(change, context), ...record }),
        others: others.map((other) => linkTo(places, other, record, context)),
      }
    },
    run: async (context) => {
      const fields = asks(context)
      const keys = keysIn(change, context)
      const record = isEdit || change.present || change.decided ? await recordOf(context) : {}
      const typed = isEdit
        ? editedIn(fields, record, context)
        : typedIn(change, fields, record, withoutRetyped(change, keys, context))
      if (change.respond) {
        return change.respond.of(await carryOut(change, context, { ...typed, ...keys }), context.t)
      }
      const output = await perform(change, context, { ...typed, ...keys })
      const created = createdIn(places, change, output)
      const once = resultOf(places, change, output, context)
      return once ? { ...once, ...(created ? { back: created.address } : {}) } : created
    },
  }
}

const CLEARED = 'cleared'

const isClearable = ({ nullable, initially }: InputField): boolean => nullable && initially === undefined

/** Boxes for what may be removed, where the form does not show it: an empty field changes nothing. */
export function clearedField(action: Pick<Placed, 'id' | 'route'>, all: readonly InputField[], { t }: PageContext) {
  const choices = all.filter(isClearable).map(({ name }) => [name, labelOf(t, action, name)] as const)
  return choices.length > 0 ? [{ name: CLEARED, label: t('console.cleared'), kind: 'several' as const, choices }] : []
}

/** What was typed; of the fields chosen for removal null, unless something was typed there. */
export function withCleared(all: readonly InputField[], typed: PageContext['fields']): Values {
  const { [CLEARED]: chosen = '', ...fields } = typed
  const names = chosen.split('\n')
  const cleared = all.filter((field) => isClearable(field) && names.includes(field.name))
  return { ...Object.fromEntries(cleared.map(({ name }) => [name, null])), ...readFields(all, fields) }
}

const RETYPED = 'typed'

/** An additional field for changes that cannot be undone. */
const retypedField = ({ retyped }: Placed, record: Values, { t }: PageContext): Field[] =>
  retyped
    ? [
        {
          ...{ name: RETYPED, label: t('console.retype', { field: retyped }), kind: 'text', required: true },
          hint: t('console.retype.hint', { field: retyped, value: String(record[retyped]) }),
        },
      ]
    : []

function withoutRetyped({ retyped }: Placed, keys: Values, context: PageContext): PageContext {
  if (!retyped) return context
  const { [RETYPED]: typed, ...fields } = context.fields
  // A right-to-left name may have been copied from the page together with its isolates.
  if (typed?.replace(ISOLATES, '') === String(keys[retyped]).trim()) return { ...context, fields }
  throw new InvalidInput([{ field: RETYPED, problem: localized('must-be-retyped', { field: retyped }) }])
}

/** The page of the record that the change has created, if it has one. */
function createdIn(places: Places, change: Placed, output: Values): Created | undefined {
  const list = listOf(places, change)
  const page = list && adds(change, list) ? detailOf(places, list, output) : undefined
  if (!page) return undefined
  const [record] = recordIn(page.record, output)
  return page.about.every((name) => name in record) ? { address: addressOf(page, page.path, record) } : undefined
}

/** The hidden form field that says which state of the record the form was made for. */
const SEEN = 'unchanged_since'

function formFieldOf(change: Placed, field: InputField, record: Values, context: PageContext, first: Values): Field {
  const { name, initially } = field
  if (name === SEEN)
    return { name, label: labelOf(context.t, change, name), kind: 'hidden', value: momentText(record.updated_at) }
  const decided = decidedIn(change, record)
  const values = change.present?.(record) ?? (change.method === 'PATCH' ? record : { ...first, ...decided })
  const asItIs = change.present || change.suggested ? undefined : record[name]
  const isFolded = change.mainFields && !field.required && !change.mainFields.includes(name)
  const shown = {
    ...formField(change, field, context, values[name] ?? initially ?? asItIs),
    ...(isFolded ? { isFolded } : {}),
  }
  return name in decided ? { ...shown, kind: 'hidden' } : shown
}

/** The values that the form announces and nobody can edit. */
const decidedIn = ({ decided }: Placed, record: Values): Values => decided?.(record) ?? {}

const momentText = (at: unknown): string => (at instanceof Date ? at.toISOString() : '')

/** Throws if somebody else has changed the record since the page was shown, or has already made this change. */
function typedIn(change: Placed, all: readonly InputField[], record: Values, { fields, t }: PageContext): Values {
  const seen = all.some(({ name }) => name === SEEN) ? fields[SEEN] : undefined
  if (seen !== undefined && seen !== momentText(record.updated_at))
    throw new StaleForm([{ field: '', problem: t('console.stale') }])
  const problems = Object.entries(decidedIn(change, record))
    .filter(([name, value]) => (fields[name] ?? '') !== '' && fields[name] !== String(value))
    .map(([field]) => ({ field, problem: localized('already-so') }))
  if (problems.length > 0) throw new InvalidInput(problems)
  return withCleared(all, fields)
}

/** Only the fields that the form changes. Throws if somebody else has changed the record since the page was shown. */
function editedIn(all: readonly InputField[], record: Values, { fields, t }: PageContext): Values {
  const editable = all.filter(({ name }) => name !== SEEN)
  const changes = changesOf(editable, fields, record)
  const seen = fields[SEEN]
  if (seen === momentText(record.updated_at)) return { ...changes, [SEEN]: seen }
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

const factOf = (change: Placed, name: string, record: Values, { t }: PageContext): Fact => {
  const value = { ...record, ...decidedIn(change, record) }[name]
  return { name: labelOf(t, change, name), cells: [cellFor(name, value, t, change.about.at(-1))] }
}

const numbersOf = (change: Placed, foreseen: Values, context: PageContext): Fact[] =>
  withCounts(Object.entries(foreseen).filter(([name]) => !change.about.includes(name)))
    .filter(({ value, in: group }) => group === undefined || value !== 0)
    .map((fact) => ({
      name: nameOfFact({ id: change.id }, fact, context.t),
      cells: [typeof fact.value === 'number' ? text(count(fact.value)) : cellFor(fact.name, fact.value, context.t)],
    }))

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
  action: Pick<Placed, 'id' | 'list' | 'route'>,
  field: InputField,
  { t }: PageContext,
  value: unknown,
): Field {
  const { name, kind, choices, required, most, secret } = field
  // The date filter of a list needs no hint, as browsers show a date picker.
  const hint = action.list && kind === 'date' ? undefined : hintOf(t, action, name)
  const texts =
    kind === 'switch'
      ? [true, false].map((choice) => [String(choice), yesNo(choice, t).text] as const)
      : choices.map((choice) => [choice, choiceOf(t, action, name, choice) ?? stateCell(choice, t).text] as const)
  return {
    name,
    label: labelOf(t, action, name),
    kind: secret ? 'password' : texts.length === 0 ? KINDS[kind] : kind === 'list' ? 'several' : 'choice',
    ...(texts.length > 0 ? { choices: texts } : {}),
    isUnkept: kind === 'json',
    ...(required ? { required } : {}),
    ...(hint === undefined ? {} : { hint }),
    ...(most === undefined ? {} : { most }),
    value: shownText(field, value),
  }
}
