import { readOr } from '../../platform/lib/read-or.ts'
/** Values of inputs and outputs, as every surface reads them. */
export type Values = Readonly<Record<string, unknown>>

export const isRecord = (value: unknown): value is Values =>
  typeof value === 'object' && value !== null && [Object.prototype, null].includes(Object.getPrototypeOf(value))

/** The rows of a list of objects, or of texts or objects by name (column `key`); undefined of anything else. */
export function tableOf(value: unknown): readonly Values[] | undefined {
  if (Array.isArray(value)) return isRecord(value[0]) ? value : undefined
  if (!isRecord(value)) return undefined
  const entries = Object.entries(value)
  if (entries.length > 0 && entries.every(([, value]) => isRecord(value)))
    return entries.map(([key, one]) => ({ key, ...(one as Values) }))
  const areTexts = entries.length > 0 && entries.every(([, value]) => typeof value === 'string')
  return areTexts ? entries.map(([key, text]) => ({ key, value: text })) : undefined
}

/** A number of digits; anything else stays a text, which the schema refuses. */
export const numberIfOne = (text: string): number | string => (/^-?\d+$/.test(text) ? Number(text) : text)

/** What JSON says; anything else stays a text, which the schema refuses. */
export const jsonIfOne = (text: string): unknown => readOr(() => JSON.parse(text), text)

/** Every field of an output; counts by name, as `rows: {grants: 2}`, one by one with the field that they are `in`. */
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

/** The fields of an output that no later call shows again, of those that it has. */
export const shownOnce = (once: readonly string[] | undefined, output: Values): string[] =>
  (once ?? []).filter((name) => output[name] !== null && output[name] !== undefined)

/** Reads texts like `order-create=https://…`; without "=" it is a name without a value, which the schema refuses. */
export const pairsOf = (texts: readonly string[]): Readonly<Record<string, string>> =>
  Object.fromEntries(
    texts.map((text) => {
      const [name = '', ...value] = text.split('=')
      return [name, value.join('=')]
    }),
  )
