import { z } from 'zod'
import type { ApiOperation } from '../../platform/lib/web/api-operation.ts'
import type { Translate } from '../../platform/lib/web/locale.ts'
import { exampleOf } from './examples.ts'

/** A JSON Schema, draft 2020-12, as far as the schemas of our wire come to it. */
export type Schema = Readonly<{
  type?: string
  description?: string
  properties?: Readonly<Record<string, Schema>>
  required?: readonly string[]
  items?: Schema
  anyOf?: readonly Schema[]
  oneOf?: readonly Schema[]
  enum?: readonly unknown[]
  const?: unknown
  [more: string]: unknown
}>

type Dialect = ApiOperation['dialect']

/** Names whose meaning differs between the dialects. */
const CONTRACT_MEANINGS: readonly string[] = ['gender', 'phone_number', 'redirect_uri', 'scope', 'state']

const keyOf = (dialect: Dialect, name: string): string =>
  dialect === 'contract' && CONTRACT_MEANINGS.includes(name) ? `api.contract_field.${name}` : `api.field.${name}`

export const meaningOf = (t: Translate, dialect: Dialect, name: string): string => t(keyOf(dialect, name))

/** The schema of a message, each field described in the reader's language. */
export function schemaOf(message: z.ZodType, t: Translate, dialect: Dialect): Schema {
  const { $schema: _, ...schema } = z.toJSONSchema(message) as Schema
  return described(schema, t, dialect)
}

function described(schema: Schema, t: Translate, dialect: Dialect): Schema {
  const each = (one: Schema): Schema => described(one, t, dialect)
  const { properties, items, anyOf } = schema
  // What is not named may be added later; only an empty answer says that there is nothing.
  const { additionalProperties, ...rest } = schema
  const closed = additionalProperties === false && properties && Object.keys(properties).length === 0
  return {
    ...rest,
    ...(closed ? { additionalProperties } : {}),
    ...(anyOf ? { anyOf: anyOf.map(each) } : {}),
    ...(items ? { items: each(items) } : {}),
    ...(properties
      ? {
          properties: Object.fromEntries(
            Object.entries(properties).map(([name, one]) => [
              name,
              { description: meaningOf(t, dialect, name), ...each(one) },
            ]),
          ),
        }
      : {}),
  }
}

/** A message that fits the schema, made of the examples of its fields. */
export function exampleFor(schema: Schema, dialect: Dialect): unknown {
  const { properties = {}, anyOf } = schema
  if (anyOf?.[0]) return exampleFor(anyOf[0], dialect)
  return Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, valueFor(name, one, dialect)]))
}

function valueFor(name: string, schema: Schema, dialect: Dialect): unknown {
  if (schema.type === 'object') return exampleFor(schema, dialect)
  if (schema.type === 'array' && schema.items) return [exampleFor(schema.items, dialect)]
  return exampleOf(dialect, name) ?? schema.const ?? schema.enum?.[0]
}

/** What a reader is told of a field's kind: its type, or the values that it can have. */
export const kindOf = ({ type = 'string', enum: values, const: only }: Schema): string =>
  values?.join(' | ') ?? (only === undefined ? type : String(only))
