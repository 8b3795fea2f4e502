import { z } from 'zod'
import type { ApiOperation } from '../../platform/lib/web/api-operation.ts'
import type { Translate } from '../../platform/lib/web/locale.ts'
import { exampleOf } from './examples.ts'

/** The subset of JSON Schema (draft 2020-12) that our wire formats use. */
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

/** Fields whose meaning differs between the dialects. */
const CONTRACT_MEANINGS: readonly string[] = ['gender', 'phone_number', 'redirect_uri', 'scope', 'state']

const keyOf = (dialect: Dialect, name: string): string =>
  dialect === 'contract' && CONTRACT_MEANINGS.includes(name) ? `api.contract_field.${name}` : `api.field.${name}`

export const meaningOf = (t: Translate, dialect: Dialect, name: string): string => t(keyOf(dialect, name))

/** The schema of a message, with fields described in the reader's language. */
export function schemaOf(message: z.ZodType, t: Translate, dialect: Dialect): Schema {
  const { $schema: _, ...schema } = z.toJSONSchema(message) as Schema
  return described(schema, t, dialect)
}

function described(schema: Schema, t: Translate, dialect: Dialect): Schema {
  const nested = (part: Schema): Schema => described(part, t, dialect)
  const { properties, items, anyOf } = schema
  // Fields may be added later, so schemas are open; only an empty message stays closed.
  const { additionalProperties, ...rest } = schema
  const closed = additionalProperties === false && properties && Object.keys(properties).length === 0
  return {
    ...rest,
    ...(closed ? { additionalProperties } : {}),
    ...(anyOf ? { anyOf: anyOf.map(nested) } : {}),
    ...(items ? { items: nested(items) } : {}),
    ...(properties
      ? {
          properties: Object.fromEntries(
            Object.entries(properties).map(([name, property]) => [
              name,
              { description: meaningOf(t, dialect, name), ...nested(property) },
            ]),
          ),
        }
      : {}),
  }
}

/** An example message for the schema, made from the examples of its fields. */
export function exampleFor(schema: Schema, dialect: Dialect): unknown {
  const { properties = {}, anyOf } = schema
  if (anyOf?.[0]) return exampleFor(anyOf[0], dialect)
  return Object.fromEntries(
    Object.entries(properties).map(([name, property]) => [name, valueFor(name, property, dialect)]),
  )
}

function valueFor(name: string, schema: Schema, dialect: Dialect): unknown {
  if (schema.type === 'object') return exampleFor(schema, dialect)
  if (schema.type === 'array' && schema.items) return [exampleFor(schema.items, dialect)]
  return exampleOf(dialect, name) ?? schema.const ?? schema.enum?.[0]
}

/** The type of a field as shown to readers, or the values that it can have. */
export const kindOf = ({ type = 'string', enum: values, const: only }: Schema): string =>
  values?.join(' | ') ?? (only === undefined ? type : String(only))
