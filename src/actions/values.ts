/** Values of inputs and outputs, as every surface reads them. */
export type Values = Readonly<Record<string, unknown>>

/** A list of objects, which is a table of its own. */
export const isTable = (value: unknown): value is Values[] => Array.isArray(value) && Object(value[0]) === value[0]

/** The rows of a list's output. */
export const rowsIn = (output: Values, name: string): Values[] => {
  const rows = output[name]
  return Array.isArray(rows) ? rows : []
}

/** The fields of an output that no later call shows again, of those that it has. */
export const shownOnce = (once: readonly string[] | undefined, output: Values): string[] =>
  (once ?? []).filter((name) => output[name] !== null && output[name] !== undefined)

/** Of `order-create=https://…`; what has no "=" becomes a name without a value, which the schema refuses. */
export const pairsOf = (texts: readonly string[]): Readonly<Record<string, string>> =>
  Object.fromEntries(
    texts.map((text) => {
      const [name = '', ...value] = text.split('=')
      return [name, value.join('=')]
    }),
  )
