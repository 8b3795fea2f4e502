import { z } from 'zod'
import { type Action, namesIn, partsOf } from '../../platform/lib/action.ts'

/** One input field of an action, as forms, commands and the API description need it. */
export interface Field {
  readonly name: string
  /** `list` is several texts, `pairs` texts by name. */
  readonly kind: 'text' | 'number' | 'date' | 'switch' | 'list' | 'pairs' | 'json'
  /** The allowed values of the field or of a list's entries; empty if any value is allowed. */
  readonly choices: readonly string[]
  readonly required: boolean
  /** Whether null clears it. */
  readonly nullable: boolean
  readonly initially: unknown
  readonly most: number | undefined
  /** Must never be shown again or appear in a URL. */
  readonly secret: boolean
  /** `--host` for `hosts`. */
  readonly flag: string
  /** The schema's own description, in English, for fields without a localized text. */
  readonly description: string | undefined
  /** The flag that turns a switch off; by default `--no-<flag>`. */
  readonly off: string | undefined
}

/** A JSON Schema, as `z.toJSONSchema` produces it. */
export type JsonSchema = Readonly<{
  type?: string | readonly string[]
  anyOf?: readonly JsonSchema[]
  oneOf?: readonly JsonSchema[]
  enum?: readonly unknown[]
  items?: JsonSchema
  const?: unknown
  properties?: Readonly<Record<string, JsonSchema>>
  required?: readonly string[]
  additionalProperties?: unknown
  default?: unknown
  maxLength?: number
  description?: string
  /** From `.meta()`. */
  flag?: string
  off?: string
  wire?: string
  secret?: boolean
  /** Offered neither by forms nor as an option. */
  apiOnly?: boolean
  [more: string]: unknown
}>

/** Cache: reading a schema takes milliseconds, and it never changes. */
const known = new WeakMap<z.ZodType, JsonSchema>()

/** The JSON Schema of what may be sent. 64-bit ids have no type in it: they may be numbers or texts. */
export function inputSchema(input: z.ZodType): JsonSchema {
  const schema = known.get(input) ?? (z.toJSONSchema(input, { io: 'input', unrepresentable: 'any' }) as JsonSchema)
  known.set(input, schema)
  return schema
}

const typesOf = ({ type, anyOf = [] }: JsonSchema): string[] => [
  ...(type === undefined ? [] : [type].flat()),
  ...anyOf.flatMap(typesOf),
]

function kindOf(schema: JsonSchema, types: readonly string[]): Field['kind'] {
  if (types.includes('boolean')) return 'switch'
  if (types.includes('array')) return schema.items?.type === 'object' ? 'json' : 'list'
  if (schema.wire === 'date') return 'date'
  if (types.includes('object')) return typeof schema.additionalProperties === 'object' ? 'pairs' : 'json'
  return types.every((type) => ['number', 'integer', 'null'].includes(type)) && types.length > 0 ? 'number' : 'text'
}

function fieldOf(name: string, schema: JsonSchema, required: boolean): Field {
  const types = typesOf(schema)
  const values = schema.enum ?? schema.items?.enum ?? (schema.const === undefined ? [] : [schema.const])
  return {
    name,
    kind: kindOf(schema, types),
    choices: values.filter((value) => value !== null).map(String),
    required,
    nullable: types.includes('null'),
    initially: schema.default,
    most: schema.maxLength,
    secret: schema.secret === true,
    flag: schema.flag ?? name.replaceAll('_', '-'),
    off: schema.off,
    description: schema.description,
  }
}

/** Fields that select a page of a list. */
const PAGING = new Set(['limit', 'after'])

/** `limit`, and `after` if the list is paginated. */
export const pagingOf = ({ input }: Pick<Action, 'input'>): string[] =>
  Object.keys(inputSchema(input).properties ?? {}).filter((name) => PAGING.has(name))

export const isPaged = (action: Pick<Action, 'input'>): boolean => pagingOf(action).includes('after')

/** Cache: lists read them for each row, and routes for each request. */
const knownFields = new WeakMap<z.ZodType, readonly Field[]>()

/** The input fields that a form shows: all but those for paging. */
export function fieldsOf({ input }: Pick<Action, 'input'>): readonly Field[] {
  const known = knownFields.get(input)
  if (known) return known
  const { properties = {}, required = [] } = inputSchema(input)
  const fields = Object.entries(properties)
    .filter(([name, { apiOnly }]) => !PAGING.has(name) && !apiOnly)
    .map(([name, schema]) => fieldOf(name, schema, required.includes(name)))
  knownFields.set(input, fields)
  return fields
}

/** Fields that are not in the path. */
export function typedFields(action: Pick<Action, 'input' | 'route'>): Field[] {
  const inPath = namesIn(partsOf(action.route).path)
  return fieldsOf(action).filter(({ name }) => !inPath.includes(name))
}
