import { z } from 'zod'
import { type Action, namesIn, partsOf } from '../../platform/lib/action.ts'

/** A field of an action's input, as a form, a command and the API description need it. */
export interface Field {
  readonly name: string
  /** How it is typed; `list`: several texts, `pairs`: texts by name. */
  readonly kind: 'text' | 'number' | 'date' | 'switch' | 'list' | 'pairs' | 'json'
  /** All that it, or an entry of a list, may be; none where it is free. */
  readonly choices: readonly string[]
  readonly required: boolean
  /** null empties it. */
  readonly nullable: boolean
  readonly initially: unknown
  readonly most: number | undefined
  /** It must not be shown again, nor stand in an address. */
  readonly secret: boolean
  /** `--host` for `hosts`. */
  readonly flag: string
  /** What its schema says of it, in English, where no text does. */
  readonly description: string | undefined
  /** Flag that turns a switch off; without it `--no-` and its own. */
  readonly off: string | undefined
}

/** A JSON Schema, as `z.toJSONSchema` makes it. */
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
  /** What `.meta()` may hold. */
  flag?: string
  off?: string
  wire?: string
  secret?: boolean
  /** No form and no option has it. */
  apiOnly?: boolean
  [more: string]: unknown
}>

/** Cache: reading a schema takes milliseconds, and it never changes. */
const known = new WeakMap<z.ZodType, JsonSchema>()

/** The JSON Schema of what may be sent. 64-bit ids have no type there: they are numbers or texts. */
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

/** Which page of a list. */
const PAGING = new Set(['limit', 'after'])

/** `limit`, and `after` where it is read page by page. */
export const pagingOf = ({ input }: Pick<Action, 'input'>): string[] =>
  Object.keys(inputSchema(input).properties ?? {}).filter((name) => PAGING.has(name))

/** Whether it is read page by page. */
export const isPaged = (action: Pick<Action, 'input'>): boolean => pagingOf(action).includes('after')

/** The fields of an input that a form has: not those that choose the page of a list. */
export function fieldsOf({ input }: Pick<Action, 'input'>): Field[] {
  const { properties = {}, required = [] } = inputSchema(input)
  return Object.entries(properties)
    .filter(([name, { apiOnly }]) => !PAGING.has(name) && !apiOnly)
    .map(([name, schema]) => fieldOf(name, schema, required.includes(name)))
}

/** Fields that are not in the path. */
export function typedFields(action: Pick<Action, 'input' | 'route'>): Field[] {
  const inPath = namesIn(partsOf(action.route).path)
  return fieldsOf(action).filter(({ name }) => !inPath.includes(name))
}
