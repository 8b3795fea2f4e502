import { z } from 'zod'

/** The type in JSON. `id` and the numbers come as number or text; `any` is not looked into. */
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

/** One field of a request, an answer or a notice, as its schema describes it. */
export interface SchemaField {
  readonly name: string
  /** From the top of the JSON, names joined by dots, without array indexes: `body.voucherList.status`. */
  readonly path: string
  readonly kind: FieldKind
  readonly list: boolean
  /** The only values there are; empty when there are others. */
  readonly values: readonly (string | number)[]
  /** Always present; in a request it may still be empty. */
  readonly required: boolean
  /** Required where another field of the same object has this value, such as `useDateMode = 0`. */
  readonly requiredWhen?: string
  /** The most entries of a list, or characters of a text. */
  readonly most?: number
  readonly least?: number
  /** Whether "" stands for nothing in a message that always has the field. */
  readonly mayBeEmpty?: boolean
  /** The variant that the field belongs to: `{ field: 'method', value: 'page' }`. */
  readonly when?: { readonly field: string; readonly value: string }
  readonly fields: readonly SchemaField[]
}

type Shape = Omit<SchemaField, 'name' | 'path' | 'required' | 'requiredWhen' | 'mayBeEmpty'>

const leaf = (kind: FieldKind, values: SchemaField['values'] = []): Shape => ({ kind, list: false, values, fields: [] })

const LEAVES: Readonly<Record<string, FieldKind>> = { string: 'text', boolean: 'boolean', unknown: 'any' }

// How zod describes any schema: each kind has its parts under these names.
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

/** The field of this name and path that a schema describes, with all below it. */
function fieldOf(schema: z.ZodType, name: string, path: string): SchemaField {
  const { type, innerType } = definitionOf(schema)
  // The platform does without such a field if it is wrong, but the contract requires it.
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

/** The limit that a list or a text was given with `max`. */
function mostOf(schema: z.ZodType): { most?: number } {
  for (const check of schema.def.checks ?? []) {
    if (check instanceof z.core.$ZodCheckMaxLength) return { most: check._zod.def.maximum }
  }
  return {}
}

/** `maybe(…)` prepares a value and then reads it; `oneOf(…)` reads a number and then holds it against a list. */
const pipeShape = (first: z.ZodType, then: z.ZodType, path: string): Shape =>
  definitionOf(first).type === 'transform' || definitionOf(then).values !== undefined
    ? shapeOf(then, path)
    : shapeOf(first, path)

/** The fields of all variants of a request, each once; the discriminating field has all its values. */
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

/** A field and all below it, outermost first. */
export const flattened = (field: SchemaField): SchemaField[] => [field, ...field.fields.flatMap(flattened)]
