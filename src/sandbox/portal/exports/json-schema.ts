import type { FieldKind, SchemaField } from '../docs/field.ts'
import type { Part, ReferenceSection, ShownField } from '../docs/reference.ts'

/** A JSON Schema, draft 2020-12. */
export type Schema = Readonly<Record<string, unknown>>

const DIGITS = '^-?\\d+$'
const NUMBER = ['integer', 'string']

const KINDS: Readonly<Record<FieldKind, Schema>> = {
  text: { type: 'string' },
  id: { type: ['string', 'integer'] },
  int: { type: NUMBER, pattern: DIGITS },
  int64: { type: NUMBER, format: 'int64', pattern: DIGITS },
  digits: { type: NUMBER, pattern: '^\\d+$' },
  price: { type: ['number', 'string'], pattern: '^-?\\d{1,10}(\\.\\d{1,2}0*)?$' },
  stock: { type: NUMBER, minimum: -1, pattern: '^(-1|\\d+)$' },
  date: { type: 'string', format: 'date' },
  datetime: { type: 'string', pattern: '^\\d{4}-\\d{2}-\\d{2} \\d{2}:\\d{2}:\\d{2}$' },
  time: { type: 'string', pattern: '^([01]\\d|2[0-3]):[0-5]\\d$' },
  boolean: { type: 'boolean' },
  object: { type: 'object' },
  any: {},
}

/** Numbers may come as text. An enum that mixes both makes code generators fail or emit code that does not compile. */
function asEnum(values: readonly (string | number)[]): Schema {
  const texts = { type: 'string', enum: values.map(String) }
  if (!values.every(Number.isInteger)) return texts
  return { anyOf: [{ type: 'integer', enum: values }, texts] }
}

function singleValueSchema({ kind, fields, values, least, mayBeEmpty, list, most }: ShownField): Schema {
  if (fields.length > 0) return objectSchema(fields)
  if (values.length > 0) return asEnum(values)
  const limits = {
    ...(least !== undefined && { minimum: least }),
    ...(most !== undefined && !list && { maxLength: most }),
  }
  const single = { ...KINDS[kind], ...limits }
  return mayBeEmpty && kind === 'date' ? { anyOf: [single, { const: '' }] } : single
}

function fieldSchema(field: ShownField): Schema {
  const description = [field.meaning, ...field.valueMeanings.map(({ value, meaning }) => `${value}: ${meaning}`)]
  const single = singleValueSchema(field)
  const shape = field.list
    ? { type: 'array', items: single, ...(field.most !== undefined && { maxItems: field.most }) }
    : single
  return { description: description.join('; '), ...shape }
}

const CONDITION = /^(\w+) ([=≠]) (\w+)$/

/** `useDateMode = 0` as a schema that matches objects for which it holds. */
function conditionSchema(text: string): Schema {
  const [, name, sign, value] = CONDITION.exec(text) ?? []
  if (name === undefined || value === undefined) throw new Error(`no condition: ${text}`)
  const known: unknown = JSON.parse(value)
  const is = { properties: { [name]: asEnumOf(known) }, required: [name] }
  return sign === '=' ? is : { not: is }
}

const asEnumOf = (value: unknown): Schema => (typeof value === 'number' ? asEnum([value]) : { const: value })

/** Fields that are required under the same condition share a schema. */
function conditional(fields: readonly SchemaField[]): Schema[] {
  const groups = new Map<string, { readonly when: Schema; readonly names: string[] }>()
  for (const { name, required, requiredWhen, when } of fields) {
    const key = requiredWhen ?? (when && required ? `${when.field} ${when.value}` : undefined)
    if (key === undefined) continue
    const schema = when
      ? { properties: { [when.field]: { const: when.value } }, required: [when.field] }
      : conditionSchema(key)
    const group = groups.get(key) ?? { when: schema, names: [] }
    group.names.push(name)
    groups.set(key, group)
  }
  return [...groups.values()].map(({ when, names }) => ({ anyOf: [{ not: when }, { required: names }] }))
}

/** Additional fields are allowed: they are ignored. */
function objectSchema(fields: readonly ShownField[]): Schema {
  const required = fields.filter((field) => field.required && !field.when).map(({ name }) => name)
  const allOf = conditional(fields)
  return {
    type: 'object',
    properties: Object.fromEntries(fields.map((field) => [field.name, fieldSchema(field)])),
    ...(required.length > 0 && { required }),
    ...(allOf.length > 0 && { allOf }),
  }
}

const DIRECTION = { request: 'Request', answer: 'Response', notice: 'Notice' } as const

const pascal = (name: string): string => name.replace(/(?:^|-)(\w)/g, (_match, letter: string) => letter.toUpperCase())

/** The name of a message in every export: `OrderCreateRequest`. */
export const schemaName = ({ name }: ReferenceSection, { direction }: Part): string =>
  pascal(name) + DIRECTION[direction]

/** `orderCreate` */
export const operationName = ({ name }: ReferenceSection): string => {
  const text = pascal(name)
  return text.charAt(0).toLowerCase() + text.slice(1)
}

const SUCCESS = [200]

/** A response other than success: a failure, or "not yet". */
export const FAILURE: Schema = {
  type: 'object',
  properties: {
    code: { type: ['integer', 'string'], not: asEnum(SUCCESS) },
    describe: { type: 'string' },
    partnerId: { type: ['string', 'integer'] },
  },
  required: ['code'],
}

export const FAILURE_NAME = 'Failure'

/**
 * The schemas of a section's messages, by name. A seller's response is either a success with its fields or a failure.
 * Both are named and referred to by `ref`, because some generators ignore inline objects within anyOf.
 */
export function schemasOf(section: ReferenceSection, ref: (name: string) => Schema): Record<string, Schema> {
  const isInterface = section.parts.some(({ direction }) => direction === 'request')
  return Object.fromEntries(
    section.parts.flatMap((part) => {
      const { name } = section
      const schema = objectSchema(part.fields.filter(({ depth }) => depth === 0))
      const isSellers = isInterface && part.direction === 'answer'
      if (!isSellers) return [[schemaName(section, part), schema]]
      const success = `${pascal(name)}Success`
      return [
        [success, { ...schema, properties: { ...(schema.properties as object), code: asEnum(SUCCESS) } }],
        [schemaName(section, part), { anyOf: [ref(success), ref(FAILURE_NAME)] }],
      ]
    }),
  )
}

/** All messages as one JSON Schema document. */
export function jsonSchemas(sections: readonly ReferenceSection[]): Schema {
  const all = sections.map((section) => schemasOf(section, (name) => ({ $ref: `#/$defs/${name}` })))
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $defs: Object.assign({ [FAILURE_NAME]: FAILURE }, ...all),
  }
}
