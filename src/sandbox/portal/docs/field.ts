import { z } from 'zod'

/** The type in JSON. `id` and the numbers may be number or text; `any` is not described further. */
export type FieldKind =
  | 'text'
  | 'id'
  | 'int'
  | 'int64'
  | 'digits'
  | 'price'
  | 'stock'
  | 'date'
  | 'datetime'
  | 'time'
  | 'boolean'
  | 'object'
  | 'any'

/** A field of a request, response or notice, derived from its schema. */
export interface SchemaField {
  readonly name: string
  /** From the top, without array indexes: `body.voucherList.status`. */
  readonly path: string
  readonly kind: FieldKind
  readonly list: boolean
  /** The allowed values; empty if not limited to a list. */
  readonly values: readonly (string | number)[]
  /** Always present; in a request it may still be empty. */
  readonly required: boolean
  /** Condition on another field of the same object, such as `useDateMode = 0`. */
  readonly requiredWhen?: string
  /** Maximum entries of a list, or characters of a text. */
  readonly most?: number
  readonly least?: number
  /** The field is always present, and "" if there is no value. */
  readonly mayBeEmpty?: boolean
  /** The variant that the field belongs to: `{ field: 'method', value: 'page' }`. */
  readonly when?: { readonly field: string; readonly value: string }
  readonly fields: readonly SchemaField[]
}

type Shape = Omit<SchemaField, 'name' | 'path' | 'required' | 'requiredWhen' | 'mayBeEmpty'>

const leaf = (kind: FieldKind, values: SchemaField['values'] = []): Shape => ({ kind, list: false, values, fields: [] })

const LEAVES: Readonly<Record<string, FieldKind>> = { string: 'text', boolean: 'boolean', unknown: 'any' }

// The parts of a zod schema's definition, by kind of schema.
interface Definition {
  readonly type: string
  readonly shape?: Readonly<Record<string, z.ZodType>>
  readonly element?: z.ZodType
  readonly innerType?: z.ZodType
  readonly in?: z.ZodType
  readonly out?: z.ZodType
  readonly options?: readonly z.ZodType[]
  readonly discriminator?: string
  readonly values?: readonly (string | number)[]
}

const definitionOf = (schema: z.ZodType): Definition => schema.def as unknown as Definition

const under = (path: string, name: string): string => (path === '' ? name : `${path}.${name}`)

function fieldOf(schema: z.ZodType, name: string, path: string): SchemaField {
  const { type, innerType } = definitionOf(schema)
  // The platform tolerates a wrong value, but the contract requires the field.
  const strict = type === 'catch' && innerType ? innerType : schema
  const { success, data } = strict.safeParse(undefined)
  const required = !success || data !== undefined
  const mayBeEmpty = required && strict.safeParse('').success
  return { name, path, required, ...(mayBeEmpty && { mayBeEmpty }), ...shapeOf(schema, path) }
}

export const schemaFields = (schema: z.ZodType, path = ''): SchemaField[] => [...shapeOf(schema, path).fields]

function shapeOf(schema: z.ZodType, path: string): Shape {
  const { wire, least } = schema.meta() ?? {}
  if (wire !== undefined) return { ...leaf(wire as FieldKind), ...(typeof least === 'number' && { least }) }
  const { type, ...parts } = definitionOf(schema)
  if (parts.innerType) return shapeOf(parts.innerType, path)
  if (parts.values) return leaf(typeof parts.values[0] === 'number' ? 'int' : 'text', parts.values)
  if (parts.element) return { ...shapeOf(parts.element, path), list: true, ...mostOf(schema) }
  if (parts.options) return { ...leaf('object'), fields: variants(parts, path) }
  if (parts.in && parts.out) return pipeShape(parts.in, parts.out, path)
  if (parts.shape) {
    const conditions = z.record(z.string(), z.string()).optional().parse(schema.meta()?.requiredWhen)
    const fields = Object.entries(parts.shape).map(([name, field]) => {
      const requiredWhen = conditions?.[name]
      return { ...fieldOf(field, name, under(path, name)), ...(requiredWhen && { requiredWhen }) }
    })
    return { ...leaf('object'), fields }
  }
  return type === 'record' ? leaf('object') : { ...leaf(LEAVES[type] ?? 'any'), ...mostOf(schema) }
}

/** The limit set with `max` on a list or text. */
function mostOf(schema: z.ZodType): { most?: number } {
  for (const check of schema.def.checks ?? []) {
    if (check instanceof z.core.$ZodCheckMaxLength) return { most: check._zod.def.maximum }
  }
  return {}
}

/** `maybe(…)` transforms and then parses; `oneOf(…)` parses a number and then checks it against a list. */
const pipeShape = (first: z.ZodType, then: z.ZodType, path: string): Shape =>
  definitionOf(first).type === 'transform' || definitionOf(then).values !== undefined
    ? shapeOf(then, path)
    : shapeOf(first, path)

/** The fields of all variants of a request; the discriminator once, with all its values. */
function variants({ options = [], discriminator = '' }: Omit<Definition, 'type'>, path: string): SchemaField[] {
  const all = options.map((option) => schemaFields(option, path))
  const chosen = all.flatMap((fields) => fields.filter(({ name }) => name === discriminator))
  const [first] = chosen
  if (first === undefined) return []
  const rest = all.flatMap((fields) => {
    const value = String(fields.find(({ name }) => name === discriminator)?.values[0])
    return fields
      .filter(({ name }) => name !== discriminator)
      .map((field) => ({ ...field, when: { field: discriminator, value } }))
  })
  return [{ ...first, values: chosen.flatMap(({ values }) => values) }, ...rest]
}

/** A field and its descendants, outermost first. */
export const flattened = <Field extends { readonly fields: readonly Field[] }>(field: Field): Field[] => [
  field,
  ...field.fields.flatMap((inner) => flattened(inner)),
]
