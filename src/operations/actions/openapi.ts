import { type Action, namesIn, partsOf } from '../../platform/lib/action.ts'
import type { Translate } from '../../platform/lib/web/locale.ts'
import { fieldsOf, inputSchema, isPaged, type JsonSchema } from './fields.ts'
import { hintOf, labelOf } from './texts.ts'

const INT64: JsonSchema = { type: 'integer', format: 'int64' }
const DIGITS: JsonSchema = { type: 'string', pattern: '^\\d+$' }

/** Our own `.meta()` for forms and commands, and `propertyNames`, which JSON makes redundant. */
const LEFT_OUT = ['flag', 'off', 'wire', 'apiOnly', 'least', 'propertyNames']

/**
 * The schema of a body for the API description. Client generators produce code that does not compile from parts without
 * a type, from null or {} as a default and from integers declared as numbers; only some languages know \p{…}.
 */
function apiSchema(schema: JsonSchema): JsonSchema {
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

/** A `z.bigint()` becomes an empty schema, as JSON Schema has no 64-bit numbers: the other options describe it. */
function choice(options: readonly JsonSchema[]): JsonSchema {
  const all = options.flatMap((option) => option.anyOf ?? [option]).filter((option) => !isEmpty(option))
  const others = simplest(all.filter(({ type }) => type !== 'null'))
  const [only] = others
  const mayBeNull = all.some(({ type }) => type === 'null')
  if (others.length !== 1) return { anyOf: mayBeNull ? [...others, { type: 'null' }] : others }
  return { ...only, ...(mayBeNull && { type: [only?.type ?? [], 'null'].flat() }) }
}

/** Merges strings that differ only in their patterns: the description says more. */
function simplest(options: readonly JsonSchema[]): readonly JsonSchema[] {
  const types = options.map(({ type }) => type)
  if (types.every((type) => type === 'string')) return options.length > 1 ? [{ type: 'string' }] : options
  return types[0] === 'integer' && types.includes('string') ? [INT64, DIGITS] : options
}

/** Parameters are always sent as text. */
function parameterSchema(schema: JsonSchema): JsonSchema {
  const { anyOf, type, ...rest } = apiSchema(schema)
  const text = anyOf?.find((option) => option.type === 'string')
  const [only] = [type].flat()
  return { ...rest, ...(only && { type: only }), ...(text ?? (anyOf && { anyOf })) }
}

type Part = Readonly<Record<string, unknown>>

/** The OpenAPI 3.1 document of the operators' API, in one language. */
export function operatorsOpenApi(actions: readonly Action[], publicUrl: string, t: Translate): Part {
  const paths: Record<string, Record<string, Part>> = {}
  const add = (route: string, part: Part): void => {
    const { method, path } = partsOf(route)
    const written = path.replace(/:(\w+)/g, '{$1}')
    paths[written] = { ...paths[written], [method.toLowerCase()]: part }
  }
  for (const action of actions) {
    add(action.route, operation(action, t))
    const { previewRole } = action
    if (previewRole) add(`GET ${partsOf(action.route).path}`, preview(action, previewRole, t))
  }
  return {
    openapi: '3.1.0',
    info: { title: t('actions.api'), version: '1', description: t('actions.api.about') },
    servers: [{ url: `${publicUrl}/admin/v1` }],
    security: [{ operator: [] }],
    paths,
    components: { securitySchemes: { operator: { type: 'http', scheme: 'bearer' } }, responses: RESPONSES },
  }
}

const json = (schema: Part): Part => ({ 'application/json': { schema } })
const envelope = (rescode: Part, data: Part): Part => ({
  type: 'object',
  required: ['rescode', 'data'],
  properties: { rescode, data },
})
const problem = { type: 'object', properties: { field: { type: 'string' }, problem: { type: 'string' } } }
const failed = (description: string): Part => {
  const problems = { type: 'array', items: problem }
  const data = { type: 'object', required: ['message'], properties: { message: { type: 'string' }, problems } }
  return { description, content: json(envelope({ type: 'integer' }, data)) }
}
const REFUSALS = [
  [400, 'BadInput', '20007: each problem with its field; nothing was done'],
  [401, 'NoToken', '20015: no operator has this token'],
  [403, 'NoRole', '20003: the operator’s role does not allow it'],
  [404, 'NotFound', '20007: there is no such record'],
  [429, 'TooMany', '20003: too many requests; Retry-After says when to try again'],
  [503, 'Unavailable', '20013: the service or its database is not available; it may not be known whether it was done'],
] as const
const RESPONSES = Object.fromEntries(REFUSALS.map(([, name, description]) => [name, failed(description)]))

function operation(action: Action, t: Translate): Part {
  const { id, command, role, route, dangerous, respond } = action
  const readsQuery = partsOf(route).method === 'GET'
  return {
    operationId: id,
    tags: [route.split('/')[1]],
    summary: t(`action.${id}`),
    description: t(`action.${id}.about`),
    'x-role': role,
    ...(command ? { 'x-command': `gatehouse ${command}` } : {}),
    ...(dangerous ? { 'x-dangerous': true } : {}),
    parameters: parameters(action, t, readsQuery),
    ...(readsQuery ? {} : requestBody(action, t)),
    responses: responses(dataOf(action), respond && fileContent(respond.types)),
  }
}

const preview = (action: Action, role: string, t: Translate): Part => ({
  operationId: `${action.id}_preview`,
  tags: [action.route.split('/')[1]],
  summary: t('actions.api.preview', { action: t(`action.${action.id}`) }),
  'x-role': role,
  parameters: parameters(action, t, true),
  responses: responses({ type: 'object' }),
})

function dataOf(action: Action): Part {
  if (!action.list) return { type: 'object' }
  const rows = { [action.list.rows]: { type: 'array', items: { type: 'object' } } }
  const properties = isPaged(action) ? { ...rows, next: { type: ['string', 'null'] } } : rows
  return { type: 'object', required: Object.keys(properties), properties }
}

/** A successful answer is the file itself, without the envelope; failures still have it. */
const fileContent = (types: readonly string[]): Part =>
  Object.fromEntries(
    types.map((type) => [
      type.replace(/;.*/, ''),
      { schema: { type: type.startsWith('application/json') ? 'object' : 'string' } },
    ]),
  )

const responses = (data: Part, file?: Part): Part => ({
  200: file
    ? { description: 'the file', content: file }
    : { description: 'rescode 0', content: json(envelope({ type: 'integer', const: 0 }, data)) },
  ...Object.fromEntries(REFUSALS.map(([status, name]) => [status, { $ref: `#/components/responses/${name}` }])),
})

/** Each field with its description, and whether it is in the path. */
function describedFields(action: Action, t: Translate) {
  const { properties = {}, required = [] } = inputSchema(action.input)
  const inPath = namesIn(partsOf(action.route).path)
  const explained = new Set(fieldsOf(action).map(({ name }) => name))
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    isInPath: inPath.includes(name),
    required: required.includes(name),
    schema: explained.has(name)
      ? { description: hintOf(t, action, name) ?? labelOf(t, action, name), ...schema }
      : { ...schema },
  }))
}

const parameters = (action: Action, t: Translate, readsQuery: boolean): Part[] =>
  describedFields(action, t)
    .filter(({ isInPath }) => isInPath || readsQuery)
    .map(({ name, isInPath, required, schema }) => ({
      name,
      in: isInPath ? 'path' : 'query',
      required: isInPath || required,
      schema: parameterSchema(schema),
    }))

function requestBody(action: Action, t: Translate): Part {
  const { oneOf } = inputSchema(action.input)
  if (oneOf) return { requestBody: { required: true, content: json({ oneOf: oneOf.map(apiSchema) }) } }
  const fields = describedFields(action, t).filter(({ isInPath }) => !isInPath)
  if (fields.length === 0) return {}
  const needed = fields.filter(({ required }) => required).map(({ name }) => name)
  const properties = Object.fromEntries(fields.map(({ name, schema }) => [name, apiSchema(schema)]))
  const schema = { type: 'object', properties, required: needed, additionalProperties: false }
  const isNeeded = partsOf(action.route).method === 'PATCH' || needed.length > 0
  return { requestBody: { required: isNeeded, content: json(schema) } }
}
