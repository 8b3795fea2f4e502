export const EXPORT_TYPES = { csv: 'text/csv; charset=utf-8', ndjson: 'application/x-ndjson; charset=utf-8' } as const

/** Puts an apostrophe before what a spreadsheet would read as a formula; some in East Asia accept fullwidth signs. */
export const withoutFormula = (text: string): string => (/^[=+\-@\t\r\n＝＋－＠]/.test(text) ? `'${text}` : text)

const quoted = (cell: string): string => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)

/** RFC 4180. */
export const csvLine = (cells: readonly string[]): string => `${cells.map(quoted).join(',')}\r\n`
