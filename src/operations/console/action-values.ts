import { type Action, type Column, cellOf } from '../../platform/lib/action.ts'
import { stringifyLossless } from '../../platform/lib/json/lossless.ts'
import { LocalizedText } from '../../platform/lib/localized-text.ts'
import { cutTo } from '../../platform/lib/storable.ts'
import type { Translate } from '../../platform/lib/web/locale.ts'
import { trafficTexts } from '../../sandbox/portal/index.ts'
import {
  columnsOn,
  type Field,
  isRecord,
  jsonOrText,
  labelOf,
  numberOrText,
  pairsOf,
  sharedChoice,
  type Values,
} from '../actions/index.ts'
import type { Cell, PageContext, Table } from './page-model.ts'
import { at, hrefOf, stateCell, text, time, yesNo } from './texts.ts'

/** Converts between the values of an action and the texts of a page. */

/** Fields whose values have a text and a colour of their own. */
const STATE_FIELDS = new Set(['state', 'status', 'stage', 'role', 'outcome', 'mail_state', 'key', 'sale_state'])
/** Fields that are shown in a fixed-width font. */
const CODE_FIELDS =
  /(?:_id|_key|_uri|_url|_uris|hosts|scopes|^value|^origin|^path|^voucher|^kid|^action|^setting|^head|^came|^answer)$/

/** `own`: the field that identifies this page's own record, and so is no link. */
export function cellFor(name: string, value: unknown, t: Translate, own?: string): Cell {
  if (isEmpty(value)) return text('–')
  if (value instanceof Date) return time(value)
  if (value instanceof LocalizedText) return text(trafficTexts(t.locale).reason(value))
  if (typeof value === 'boolean') return yesNo(value, t)
  if (STATE_FIELDS.has(name)) return stateCell(String(value), t)
  const choice = sharedChoice(t, name, String(value))
  if (choice) return text(choice)
  const shown = cutTo(inWords(value, t), MAX_LENGTH)
  if (isRecord(value)) return withMoments(shown)
  const page = PAGES[name]
  if (page && name !== own)
    return { text: name === 'request_id' ? `${shown.slice(0, 8)}…` : shown, href: at(page, shown), isCode: true }
  return { text: shown, ...(CODE_FIELDS.test(name) ? { isCode: true } : {}) }
}

const MAX_LENGTH = 1_000

const MOMENT = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?Z/g

const withMoments = (words: string): Cell => {
  const line = words.replaceAll('\n', ' ')
  return { text: line.replace(MOMENT, '\n'), moments: line.match(MOMENT) ?? [] }
}

/** `hosts: a.example → b.example` for changes, `reason: lost` for other fields. */
function inWords(value: unknown, t: Translate): string {
  if (value === null || value === undefined || value === '') return '–'
  if (Array.isArray(value)) return value.length === 0 ? '–' : value.map((entry) => inWords(entry, t)).join(', ')
  if (value instanceof Date) return value.toISOString()
  if (!isRecord(value)) return String(value)
  const { before, after, ...others } = value
  const changed = isRecord(before) || isRecord(after) ? changesIn(Object(before), Object(after), t) : []
  const rest = Object.entries(changed.length > 0 ? others : value)
  const unchanged = rest.map(([label, value]) => t('layout.pair', { label, value: inWords(value, t) }))
  return [...changed, ...unchanged].join(t('layout.next'))
}

const changesIn = (before: Values, after: Values, t: Translate): string[] =>
  [...new Set([...Object.keys(before), ...Object.keys(after)])].map((label) =>
    t('layout.pair', { label, value: `${inWords(before[label], t)} → ${inWords(after[label], t)}` }),
  )

export const cellIn = (column: Column<object>, row: Values, t: Translate, now: Date): Cell => {
  const [tone, page] = [column.tone?.(row), column.page?.(row)]
  const cell = cellFor(column.name, cellOf(column, row, t, now), t)
  return { ...cell, ...(tone ? { tone } : {}), ...(page ? { href: hrefOf(page) } : {}) }
}

export const tableOf = (
  action: Pick<Action, 'id'>,
  columns: readonly Column<object>[],
  rows: readonly Values[],
  { t, deps }: Pick<PageContext, 't' | 'deps'>,
): Table => {
  const shown = columnsOn('page', columns)
  return {
    head: shown.map(({ name }) => labelOf(t, action, name)),
    rows: rows.map((row) => shown.map((column) => cellIn(column, row, t, deps.clock.now()))),
    none: t('console.none_yet'),
  }
}

const isEmpty = (value: unknown): boolean => {
  if (value === null || value === undefined || value === '') return true
  return typeof value === 'object' && !(value instanceof Date) && Object.keys(value).length === 0
}

/** Fields that identify a record with a page of its own, and the section of that page. */
const PAGES: Readonly<Record<string, string>> = {
  request_id: 'requests',
  partner_id: 'partners',
  app_key: 'apps',
  order_id: 'orders',
  team_id: 'teams',
}

/** A value as a form shows it; lists and pairs have one line per entry. */
export function shownText({ kind, secret }: Field, value: unknown): string {
  if (secret || value === null || value === undefined) return ''
  if (Array.isArray(value)) return value.map(String).join('\n')
  if (Object(value) !== value) return String(value)
  return kind === 'pairs'
    ? Object.entries(value as Values)
        .map(([name, value]) => `${name}=${String(value)}`)
        .join('\n')
    : stringifyLossless(value)
}

const lines = (typed: string): string[] =>
  typed
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '')

/** Reads a typed value. Text that does not fit the kind stays text, which the schema refuses. */
function readValue({ kind }: Field, typed: string): unknown {
  switch (kind) {
    case 'number':
      return numberOrText(typed)
    case 'switch':
      return typed === 'true' ? true : typed === 'false' ? false : typed
    case 'list':
      return lines(typed)
    case 'pairs':
      return pairsOf(lines(typed))
    case 'json':
      return jsonOrText(typed)
    default:
      return typed
  }
}

/** Reads a form or the query of a list. Unknown names are passed on, so that the schema refuses them. */
export const readFields = (fields: readonly Field[], typed: Readonly<Record<string, string>>): Values =>
  Object.fromEntries(
    Object.entries(typed).map(([name, value]) => {
      const field = fields.find((candidate) => candidate.name === name)
      return [name, field ? readValue(field, value) : value]
    }),
  )

/** The changes that an edit form makes: only fields whose text differs from what the page showed. */
export function changesOf(fields: readonly Field[], typed: Readonly<Record<string, string>>, record: Values): Values {
  const changed = fields.filter(
    (field) => !isSame(field, typed[field.name] ?? '', shownText(field, record[field.name])),
  )
  return Object.fromEntries(
    changed.map((field) => {
      const value = typed[field.name]
      return [field.name, value === undefined ? emptyValue(field) : readValue(field, value)]
    }),
  )
}

/** Ignores differences that a browser makes: it ends lines with CR LF, and sends checked boxes in the order shown. */
function isSame({ kind, choices = [] }: Field, one: string, other: string): boolean {
  const [ones, others] = [lines(one), lines(other)]
  const isChecked = kind === 'list' && choices.length > 0
  return (isChecked ? ones.sort() : ones).join('\n') === (isChecked ? others.sort() : others).join('\n')
}

const emptyValue = ({ kind, nullable }: Field): unknown => {
  if (nullable) return null
  return kind === 'list' ? [] : kind === 'pairs' ? {} : ''
}
