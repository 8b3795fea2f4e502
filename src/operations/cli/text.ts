import { stringifyLossless } from '../../platform/lib/json/lossless.ts'
import { LocalizedText } from '../../platform/lib/localized-text.ts'

/** Characters that a terminal would act on: control characters and those that change the direction of writing. */
const CONTROLS = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu
const CONTROLS_IN_LINES = /(?![\n\t])[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu

/** Untrusted text as one line that is safe to print on a terminal. */
export const printable = (text: string): string => text.replace(CONTROLS, '\ufffd')

export const printableLines = (text: string): string => text.replace(CONTROLS_IN_LINES, '\ufffd')

/** Equivalent JSON that is safe to print: control characters occur only in its strings, where they can be escaped. */
export const printableJson = (json: string): string =>
  json.replace(CONTROLS_IN_LINES, (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** Characters that take two cells of a terminal. */
const WIDE =
  /[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}\p{Emoji_Presentation}\u3000-\u303f\uff01-\uff60]/gu

const widthOf = (text: string): number => [...text.replace(WIDE, '  ')].length

/** Rows in columns, each as wide as its widest cell; the last one is not padded. */
export function aligned(given: readonly (readonly string[])[]): string {
  const rows = given.map((row) => row.map(printable))
  const widths: number[] = []
  for (const row of rows) {
    for (const [at, cell] of row.entries()) widths[at] = Math.max(widths[at] ?? 0, widthOf(cell))
  }
  return rows
    .map((row) =>
      row
        .map((cell, at) => (at === row.length - 1 ? cell : cell + ' '.repeat((widths[at] ?? 0) - widthOf(cell))))
        .join('  '),
    )
    .join('\n')
}

/** The most entries of a list that are shown: a list may hold every product of a partner. */
const MAX_ENTRIES = 50

/** A value as a person reads it; an empty one is shown as a dash. */
export function readable(value: unknown): string {
  if (value instanceof Date) return value.toISOString()
  if (Array.isArray(value)) {
    const more = value.length > MAX_ENTRIES ? [`… (${value.length})`] : []
    return value.length > 0 ? [...value.slice(0, MAX_ENTRIES).map(readable), ...more].join(', ') : '-'
  }
  if (value instanceof LocalizedText) return String(value)
  if (typeof value === 'object' && value !== null) return stringifyLossless(value)
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  return value === null || value === undefined || value === '' ? '-' : String(value)
}

/** For an option that may be repeated. */
export const collect = (text: string, before: unknown): string[] => [...(Array.isArray(before) ? before : []), text]

/** For an option that may be repeated and may hold several words. */
export const collectWords = (text: string, before: unknown): string[] => [
  ...(Array.isArray(before) ? before : []),
  ...text.split(/[\s,]+/).filter((word) => word !== ''),
]
