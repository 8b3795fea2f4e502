import { z } from 'zod'
import { type Action, cellOf } from '../../platform/lib/action.ts'
import { csvLine, EXPORT_TYPES, withoutFormula } from '../../platform/lib/csv.ts'
import { stringifyLossless } from '../../platform/lib/json/lossless.ts'
import type { Download } from '../../platform/lib/web/download.ts'
import type { Translate } from '../../platform/lib/web/locale.ts'
import { rowsIn, type Values } from './values.ts'

/** Exports a whole list as a file, reading it page by page while it is sent. */

export const EXPORT_FORMATS = ['csv', 'ndjson'] as const
export type ExportFormat = (typeof EXPORT_FORMATS)[number]
export const exportQuery = z.object({ export: z.enum(EXPORT_FORMATS) })

/** The most that one export reads. Pages are limited too, because a search may return pages with few rows or none. */
const LIMIT = { rows: 100_000, pages: 1_000 } as const

/** Reads one page of the list; `page` holds `limit` and `after`, which are added to the filters. */
type Read = (page: Readonly<Record<string, string>>) => Promise<Values>

interface Presentation {
  readonly t: Translate
  readonly now: Date
}

/** If the first page throws, so does this, before anything is sent. */
export async function exportOf(
  action: Action,
  format: ExportFormat,
  read: Read,
  presentation: Presentation,
): Promise<Download> {
  const { rows = '' } = action.list ?? {}
  const readPage: Read = (page) => read({ limit: '1000', ...page })
  const first = await readPage({})
  let left: number = LIMIT.rows
  let next: unknown
  async function* bounded() {
    for await (const page of pagesOf(readPage, first, LIMIT.pages)) {
      yield page
      next = page.next
      left -= rowsIn(page, rows).length
      if (left <= 0) return
    }
  }
  async function* parts() {
    // Excel reads UTF-8 only where the file says so.
    if (format === 'csv') yield '\ufeff'
    yield* linesOf(action, format, presentation, bounded())
    if (typeof next === 'string') yield truncationLine(format, next, presentation.t)
  }
  return { name: `${rows}.${format}`, type: EXPORT_TYPES[format], parts: parts() }
}

/** The last line of an incomplete file, so that nobody takes it for the whole list. */
const truncationLine = (format: ExportFormat, next: string, t: Translate): string =>
  format === 'csv'
    ? csvLine([t('actions.export.goes_on')])
    : `${stringifyLossless({ next, more: t('actions.export.goes_on') })}\n`

export async function* pagesOf(read: Read, first?: Values, limit = Number.POSITIVE_INFINITY): AsyncGenerator<Values> {
  let output = first ?? (await read({}))
  for (let page = 1; ; page++) {
    yield output
    if (typeof output.next !== 'string' || page >= limit) return
    output = await read({ after: output.next })
  }
}

/** One line per row; CSV begins with the column names. */
export async function* linesOf(
  { list }: Action,
  format: ExportFormat,
  { t, now }: Presentation,
  pages: AsyncIterable<Values>,
): AsyncGenerator<string> {
  if (!list) return
  const isOnTerminal = (name: string) => list.columns.some((column) => column.name === name && column.onTerminalOnly)
  const columns = list.columns.filter(({ name, onPagesOnly }) => !(onPagesOnly && isOnTerminal(name)))
  if (format === 'csv') yield csvLine(columns.map(({ name }) => name))
  for await (const output of pages) {
    for (const row of rowsIn(output, list.rows))
      yield format === 'csv'
        ? csvLine(columns.map((column) => csvCell(cellOf(column, row, t, now))))
        : `${stringifyLossless(row)}\n`
  }
}

/** Safe in a spreadsheet although it may start like a formula, with a minus sign. */
const NUMBER = /^-?\d+(?:\.\d+)?$/

function csvCell(value: unknown): string {
  const text = csvText(value)
  return NUMBER.test(text) ? text : withoutFormula(text)
}

function csvText(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (value instanceof Date) return value.toISOString()
  if (Array.isArray(value)) return value.map(csvText).join(' ')
  return Object.getPrototypeOf(Object(value)) === Object.prototype ? stringifyLossless(value) : String(value)
}
