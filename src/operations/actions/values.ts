import { readOr } from '../../platform/lib/read-or.ts'

/** Values of inputs and outputs, as every surface reads them. */
export type Values = Readonly<Record<string, unknown>>

export const isRecord = (value: unknown): value is Values =>
  typeof value === 'object' && value !== null && [Object.prototype, null].includes(Object.getPrototypeOf(value))

/** The rows of a list of objects, or of texts or objects by name (column `key`); undefined for anything else. */
export function tableRows(value: unknown): readonly Values[] | undefined {
  if (Array.isArray(value)) return isRecord(value[0]) ? value : undefined
  if (!isRecord(value)) return undefined
  const entries = Object.entries(value)
  if (entries.length > 0 && entries.every(([, value]) => isRecord(value)))
    return entries.map(([key, row]) => ({ key, ...(row as Values) }))
  const areTexts = entries.length > 0 && entries.every(([, value]) => typeof value === 'string')
  return areTexts ? entries.map(([key, text]) => ({ key, value: text })) : undefined
}

/** Reads a whole number; anything else stays a text, which the schema refuses. */
export const numberOrText = (text: string): number | string => (/^-?\d+$/.test(text) ? Number(text) : text)

/** Parses JSON; anything else stays a text, which the schema refuses. */
export const jsonOrText = (text: string): unknown => readOr(() => JSON.parse(text), text)

/** Every field of an output; counts by name, such as `rows: {grants: 2}`, become one entry each (`in: 'rows'`). */
export const withCounts = (
  entries: readonly (readonly [name: string, value: unknown])[],
): { readonly name: string; readonly value: unknown; readonly in?: string }[] =>
  entries.flatMap(([name, value]) =>
    isCounts(value)
      ? Object.entries(value).map(([what, amount]) => ({ name: what, value: amount, in: name }))
      : [{ name, value }],
  )

export const isCounts = (value: unknown): value is Readonly<Record<string, number>> =>
  isRecord(value) &&
  Object.values(value).length > 0 &&
  Object.values(value).every((amount) => typeof amount === 'number')

export function recordIn(name: string | undefined, output: Values): readonly [record: Values, beside: Values] {
  if (name === undefined) return [output, {}]
  const { [name]: record, ...beside } = output
  return [Object(record) as Values, beside]
}

/** The rows of a list's output. */
export const rowsIn = (output: Values, name: string): Values[] => {
  const rows = output[name]
  return Array.isArray(rows) ? rows : []
}

/** Those of the fields shown only once that this output has. */
export const shownOnce = (once: readonly string[] | undefined, output: Values): string[] =>
  (once ?? []).filter((name) => output[name] !== null && output[name] !== undefined)

/** Reads texts like `order-create=https://…`; without "=" the value is empty, which the schema refuses. */
export const pairsOf = (texts: readonly string[]): Readonly<Record<string, string>> =>
  Object.fromEntries(
    texts.map((text) => {
      const [name = '', ...value] = text.split('=')
      return [name, value.join('=')]
    }),
  )
