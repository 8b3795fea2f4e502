import type { JsonSchema } from './fields.ts'

const INT64: JsonSchema = { type: 'integer', format: 'int64' }
const DIGITS: JsonSchema = { type: 'string', pattern: '^\\d+$' }

/** Our own `.meta()` for forms and commands; names of properties are always strings in JSON. */
const LEFT_OUT = ['flag', 'off', 'wire', 'apiOnly', 'least', 'propertyNames']

/**
 * The schema of a body for the description of the API. Of a part without a type, of null or {} as a default and of integers
 * that are called numbers, generators of clients make programs that do not compile; only some languages know \p{…}.
 */
export function apiSchema(schema: JsonSchema): JsonSchema {
  const { anyOf, properties, items, secret, ...rest } = schema
  const own = Object.fromEntries(Object.entries(rest).filter(([name, value]) => isKept(name, value)))
  return {
    ...own,
    ...(rest.maximum === Number.MAX_SAFE_INTEGER && INT64),
    ...(Array.isArray(rest.enum) && rest.enum.every(Number.isInteger) && { type: 'integer' }),
    ...(secret === true && { format: 'password', writeOnly: true }),
    ...(anyOf && choice(anyOf.map(apiSchema))),
    ...(properties && { properties: Object.fromEntries(Object.entries(properties).map(apiProperty)) }),
    ...(items && { items: apiSchema(items) }),
  }
}

const apiProperty = ([name, schema]: [string, JsonSchema]): [string, JsonSchema] => [name, apiSchema(schema)]

const isEmpty = (value: unknown): boolean =>
  value === null || (typeof value === 'object' && Object.keys(value).length === 0)

const isKept = (name: string, value: unknown): boolean =>
  !LEFT_OUT.includes(name) &&
  !(name === 'default' && isEmpty(value)) &&
  !(name === 'pattern' && String(value).includes('\\p{')) &&
  Math.abs(Number(value)) !== Number.MAX_SAFE_INTEGER

/** A `z.bigint()` comes out empty, as JSON Schema has no 64-bit numbers: the other options describe the value. */
function choice(options: readonly JsonSchema[]): JsonSchema {
  const all = options.flatMap((option) => option.anyOf ?? [option]).filter((option) => !isEmpty(option))
  const others = simplest(all.filter(({ type }) => type !== 'null'))
  const [only] = others
  const mayBeNull = all.some(({ type }) => type === 'null')
  if (others.length !== 1) return { anyOf: mayBeNull ? [...others, { type: 'null' }] : others }
  return { ...only, ...(mayBeNull && { type: [only?.type ?? [], 'null'].flat() }) }
}

/** Texts that differ in their patterns alone become one: the description says more. */
function simplest(options: readonly JsonSchema[]): readonly JsonSchema[] {
  const types = options.map(({ type }) => type)
  if (types.every((type) => type === 'string')) return options.length > 1 ? [{ type: 'string' }] : options
  return types[0] === 'integer' && types.includes('string') ? [INT64, DIGITS] : options
}

/** The schema of a parameter, which is always sent as text. */
export function parameterSchema(schema: JsonSchema): JsonSchema {
  const { anyOf, type, ...rest } = apiSchema(schema)
  const text = anyOf?.find((option) => option.type === 'string')
  const [only] = [type].flat()
  return { ...rest, ...(only && { type: only }), ...(text ?? (anyOf && { anyOf })) }
}
