import { type Action, type Column, cellOf } from '../../platform/lib/action.ts'
import { LocalizedText } from '../../platform/lib/localized-text.ts'
import type { Translate } from '../../platform/lib/web/locale.ts'
import { labelOf } from './texts.ts'
import { isCounts, isRecord, tableRows, type Values } from './values.ts'

/** Decides what of an output is shown, on the terminal and on pages, as its action declares. */

export interface ShownFact {
  readonly name: string
  readonly value: unknown
  /** The field that this fact is an entry of: counts or texts by name. */
  readonly in?: string
  /** How `row` shows it, if the action declares that. */
  readonly column?: Column<object>
  readonly row: Values
}

interface ShownTable {
  readonly name: string
  readonly columns: readonly Column<object>[]
  readonly rows: readonly Values[]
  /** Names the row of another table that this list belongs to. */
  readonly of?: string
}

interface ShownValues {
  readonly facts: ShownFact[]
  readonly tables: ShownTable[]
  /** Values of unknown structure, and on a terminal texts of several lines. */
  readonly texts: (readonly [name: string, value: unknown])[]
}

interface Surface {
  readonly on: 'terminal' | 'page'
  readonly t: Translate
  readonly now: Date
}

/** The answer of the API: of the output what may be `shown`, with the problems in spite of which it was done. */
export function withWarnings({ warnings }: Pick<Action, 'warnings'>, output: object, shown = output): object {
  const warned = warnings?.of(output) ?? []
  return warned.length === 0 ? shown : { ...shown, warnings: warned }
}

export const columnsOn = (on: Surface['on'], columns: readonly Column<object>[]): readonly Column<object>[] =>
  columns.filter((column) => !(on === 'page' ? column.onTerminalOnly : column.onPagesOnly))

/** An empty object counts as a plain value. */
const isObject = (value: unknown): value is object =>
  typeof value === 'object' &&
  !(value instanceof Date || value instanceof LocalizedText) &&
  Object.keys(value ?? {}).length > 0

/** Needed because other fields may share the name of a part: a refund's `vouchers` are codes. */
const isRecordList = (value: unknown): boolean => Array.isArray(value) && value.some(isRecord)

const isJson = (value: unknown): boolean =>
  isObject(value) && (!Array.isArray(value) || value.some((entry) => isObject(entry)))

/** Of a declared part, an object becomes facts by its columns, a list a table; without columns, one fact per entry. */
export function shownOf({ parts }: Pick<Action, 'parts'>, values: Values, surface: Surface): ShownValues {
  const shown: ShownValues = { facts: [], tables: [], texts: [] }
  const { on, t, now } = surface
  const add = (name: string, value: unknown, row: Values, column?: Column<object>, of?: string): void => {
    const declared = parts?.[name]
    const columns = declared && columnsOn(on, declared)
    if (value === undefined || (declared?.length !== 0 && columns?.length === 0)) return
    if (on === 'terminal' && typeof value === 'string' && value.includes('\n'))
      return void shown.texts.push([name, value])
    if (!isObject(value)) return void shown.facts.push({ name, value, row, ...(column ? { column } : {}) })
    if (columns && Array.isArray(value)) {
      shown.tables.push({ name, columns, rows: value, ...(of === undefined ? {} : { of }) })
      for (const item of value as Values[])
        for (const [entry, list] of Object.entries(item))
          if (parts?.[entry] && isRecordList(list) && !columns.some((column) => column.name === entry))
            add(entry, list, item, undefined, columns[0] && String(cellOf(columns[0], item, t, now)))
      return
    }
    const table = parts ? undefined : tableRows(value)
    if (table) {
      const names = Object.keys(table[0] ?? {})
      return void shown.tables.push({ name, columns: names.map((name) => ({ name })), rows: table })
    }
    if (isRecord(value)) {
      if (columns && columns.length > 0) {
        for (const column of columns) add(column.name, cellOf(column, value, t, now), value, column)
        return
      }
      if (columns || isCounts(value)) {
        for (const [entry, item] of Object.entries(value)) {
          if (parts?.[entry] && isRecordList(item)) add(entry, item, value, undefined, String(Object.values(value)[0]))
          else shown.facts.push({ name: entry, value: item, in: name, row })
        }
        return
      }
      if (Object.keys(value).some((entry) => parts?.[entry])) {
        for (const [entry, item] of Object.entries(value)) add(entry, item, value)
        return
      }
    }
    if (isJson(value)) shown.texts.push([name, value])
    else shown.facts.push({ name, value, row, ...(column ? { column } : {}) })
  }
  for (const [name, value] of Object.entries(values)) add(name, value, values)
  return shown
}

/** The label of a fact. An entry without a text of its own is labelled with the field that it is in. */
export function nameOfFact(
  action: Pick<Action, 'id' | 'parts'>,
  { name, in: group }: Pick<ShownFact, 'name' | 'in'>,
  t: Translate,
): string {
  if (group === undefined) return labelOf(t, action, name)
  const own = `field.${group}.${name}`
  if (t.has(own)) return t(own)
  return action.parts?.[group]
    ? t('layout.pair', { label: labelOf(t, action, group), value: name })
    : labelOf(t, action, name)
}
