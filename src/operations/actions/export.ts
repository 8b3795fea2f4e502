import { z } from 'zod'
import { type Action, cellOf } from '../../platform/lib/action.ts'
import { csvLine, EXPORT_TYPES, withoutFormula } from '../../platform/lib/csv.ts'
import { stringifyLossless } from '../../platform/lib/json/lossless.ts'
import type { Download } from '../../platform/lib/web/download.ts'
import type { Translate } from '../../platform/lib/web/locale.ts'
import { rowsIn, type Values } from './values.ts'

/** A whole list as a file, read page by page while it is sent. */

export const EXPORT_FORMATS = ['csv', 'ndjson'] as const
export type ExportFormat = (typeof EXPORT_FORMATS)[number]
export const exportQuery = z.object({ export: z.enum(EXPORT_FORMATS) })

/** What one export reads at most: a search may have pages with few rows, or none. */
const MOST = { rows: 100_000, pages: 1_000 } as const

/** A page of the list: what stands in `page` besides its filters. */
type Read = (page: Readonly<Record<string, string>>) => Promise<Values>

interface Shown {
  readonly t: Translate
  readonly now: Date
}

/** A download; throws what the first page throws, before anything is sent. */
export async function exportOf(action: Action, format: ExportFormat, read: Read, shown: Shown): Promise<Download> {
  const { rows = '' } = action.list ?? {}
  const ofLimit: Read = (page) => read({ limit: '1000', ...page })
  const first = await ofLimit({})
  let left: number = MOST.rows
  let next: unknown
  async function* bounded() {
    for await (const page of pagesOf(ofLimit, first, MOST.pages)) {
      yield page
      next = page.next
      left -= rowsIn(page, rows).length
      if (left <= 0) return
    }
  }
  async function* parts() {
    // Excel reads UTF-8 only where the file says so.
    if (format === 'csv') yield '\ufeff'
    yield* linesOf(action, format, shown, bounded())
    if (typeof next === 'string') yield endOf(format, next, shown.t)
  }
  return { name: `${rows}.${format}`, type: EXPORT_TYPES[format], parts: parts() }
}

/** The last line of a file that has not all: who works with it must not take it for the whole list. */
const endOf = (format: ExportFormat, next: string, t: Translate): string =>
  format === 'csv'
    ? csvLine([t('actions.export.goes_on')])
    : `${stringifyLossless({ next, more: t('actions.export.goes_on') })}\n`

/** The pages of a list, one after the other. */
export async function* pagesOf(read: Read, first?: Values, most = Number.POSITIVE_INFINITY): AsyncGenerator<Values> {
  let output = first ?? (await read({}))
  for (let page = 1; ; page++) {
    yield output
    if (typeof output.next !== 'string' || page >= most) return
    output = await read({ after: output.next })
  }
}

/** A line a row; of CSV the names of the columns first. */
export async function* linesOf(
  { list }: Action,
  format: ExportFormat,
  { t, now }: Shown,
  pages: AsyncIterable<Values>,
): AsyncGenerator<string> {
  if (!list) return
  const isTold = (name: string) => list.columns.some((column) => column.name === name && column.onTerminalOnly)
  const columns = list.columns.filter(({ name, onPagesOnly }) => !(onPagesOnly && isTold(name)))
  if (format === 'csv') yield csvLine(columns.map(({ name }) => name))
  for await (const output of pages) {
    for (const row of rowsIn(output, list.rows))
      yield format === 'csv'
        ? csvLine(columns.map((column) => csvCell(cellOf(column, row, t, now))))
        : `${stringifyLossless(row)}\n`
  }
}

/** No formula, though it may begin as one. */
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
