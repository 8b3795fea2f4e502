import { stringifyLossless } from '../../platform/lib/json/lossless.ts'

/** What a terminal would carry out, or would show in another order: control characters, and those that turn the direction of writing. */
const COMMANDS = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu
const COMMANDS_IN_LINES = /(?![\n\t])[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu

/** A text of others as one line that a terminal only shows. */
export const printable = (text: string): string => text.replace(COMMANDS, '\ufffd')

export const printableLines = (text: string): string => text.replace(COMMANDS_IN_LINES, '\ufffd')

/** JSON with the same meaning that a terminal only shows: such characters stand in its texts alone, which may have them as escapes. */
export const printableJson = (json: string): string =>
  json.replace(COMMANDS_IN_LINES, (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** Rows in columns, each as wide as its widest cell; the last column may be of any width. */
export function aligned(given: readonly (readonly string[])[]): string {
  const rows = given.map((row) => row.map(printable))
  const widths: number[] = []
  for (const row of rows) {
    for (const [at, cell] of row.entries()) widths[at] = Math.max(widths[at] ?? 0, cell.length)
  }
  return rows
    .map((row) => row.map((cell, at) => (at === row.length - 1 ? cell : cell.padEnd(widths[at] ?? 0))).join('  '))
    .join('\n')
}

/** Of a list, which may have every product of a partner. */
const MOST_READ = 50

/** A value as a person reads it; an empty one is shown as a dash. */
export function readable(value: unknown): string {
  if (value instanceof Date) return value.toISOString()
  if (Array.isArray(value)) {
    const more = value.length > MOST_READ ? [`… (${value.length})`] : []
    return value.length > 0 ? [...value.slice(0, MOST_READ).map(readable), ...more].join(', ') : '-'
  }
  if (typeof value === 'object' && value !== null) return stringifyLossless(value)
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  return value === null || value === undefined || value === '' ? '-' : String(value)
}

/** For an option that may be repeated. */
export const collect = (text: string, before: unknown): string[] => [...(Array.isArray(before) ? before : []), text]

/** For one that may be repeated and may hold several words. */
export const collectWords = (text: string, before: unknown): string[] => [
  ...(Array.isArray(before) ? before : []),
  ...text.split(/[\s,]+/).filter((word) => word !== ''),
]
