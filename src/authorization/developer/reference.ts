import { z } from 'zod'
import type { Config } from '../../platform/config/index.ts'
import { contractAnswer, type FailureRow, NamedFailure, oauthErrorOf } from '../../platform/lib/failure.ts'
import type { ApiOperation } from '../../platform/lib/web/api-operation.ts'
import { failureEnvelope } from '../../platform/lib/web/envelope.ts'
import type { Translate } from '../../platform/lib/web/locale.ts'
import { nameOfRescode } from '../../platform/lib/web/rescode.ts'
import { worded } from '../../platform/lib/web/worded.ts'
import { OAUTH_API } from '../oauth/index.ts'
import { OIDC_API } from '../oidc/index.ts'
import { RESOURCE_API } from '../resource/index.ts'
import { exampleOf, sentExampleOf } from './examples.ts'

/** Every endpoint for apps, in the order of use. */
export const OPERATIONS: readonly ApiOperation[] = [...OIDC_API, ...OAUTH_API, ...RESOURCE_API]

/** One endpoint, described in one language. */
export type DescribedOperation = ReturnType<typeof describe>
/** One kind of request; most endpoints have only one. */
export type RequestKind = DescribedOperation['requests'][number]
export type DescribedResponse = DescribedOperation['answers'][number]
/** A failure as the caller sees it. */
export type ReportedFailure = DescribedOperation['failures'][number]

export const describeOperations = (config: Config, t: Translate): DescribedOperation[] =>
  OPERATIONS.map((operation) => describe(operation, config, t))

function describe(operation: ApiOperation, config: Config, t: Translate) {
  const { id, dialect, method, path, at, caller, query, form } = operation
  return {
    ...{ id, dialect, method, path, caller },
    title: t(`api.${id}.title`),
    about: t(`api.${id}.about`),
    url: `${config[at]}${path}`,
    /** Where its parameters go. */
    place: form ? ('form' as const) : ('query' as const),
    requests: (form ?? query ?? []).map((message) => requestKind(schemaOf(message, t, dialect), operation, config, t)),
    answers: Object.entries(operation.answers).map(([status, answer]) =>
      answerOf(Number(status), answer, operation, t),
    ),
    failures: failuresOf(operation, config, t),
  }
}

function requestKind(schema: Schema, { dialect }: ApiOperation, config: Config, t: Translate) {
  const { properties = {}, required: needed = [] } = schema
  const parameters = Object.entries(properties).map(([name, { description: _, ...property }]) => {
    const required = needed.includes(name)
    const only = required && property.const !== undefined ? String(property.const) : undefined
    const example = only ?? sentExampleOf(config, dialect, name)
    return { name, kind: kindOf(property), meaning: meaningOf(t, dialect, name), required, schema: property, example }
  })
  const known = parameters.flatMap(({ name, example }) => (example === undefined ? [] : [[name, example] as const]))
  return {
    /** Empty if there is only one kind. */
    name: String(properties.grant_type?.const ?? ''),
    schema,
    parameters,
    /** Values by name. */
    example: Object.fromEntries(known),
  }
}

function answerOf(
  status: number,
  answer: ApiOperation['answers'][number],
  { dialect }: ApiOperation,
  t: Translate,
): { status: number; kind: 'page' | 'redirect' | 'json'; schema: Schema; fields: Field[]; example: unknown } {
  if (answer === 'page') return { status, kind: 'page', schema: {}, fields: [], example: undefined }
  const kind = 'json' in answer ? 'json' : 'redirect'
  const data = schemaOf('json' in answer ? answer.json : answer.redirect, t, dialect)
  const example = exampleFor(data, dialect)
  if (dialect === 'standard' || kind === 'redirect')
    return { status, kind, schema: data, fields: fieldsOf(data), example }
  const schema = {
    type: 'object',
    properties: { rescode: { description: t('api.field.rescode'), const: 0 }, data },
    required: ['rescode', 'data'],
  }
  return { status, kind, schema, fields: fieldsOf(data), example: { rescode: 0, data: example } }
}

interface Field {
  readonly name: string
  readonly kind: string
  readonly meaning: string
  readonly depth: number
}

function fieldsOf({ properties = {}, anyOf, items }: Schema, depth = 0): Field[] {
  const first = anyOf?.[0] ?? items
  if (first) return fieldsOf(first, depth)
  return Object.entries(properties).flatMap(([name, property]) => [
    { name, kind: kindOf(property), meaning: property.description ?? '', depth },
    ...fieldsOf(property, depth + 1),
  ])
}

/** Placeholder for what the caller sent. */
const VALUE = '(value)'

/** Failures that look the same to the caller are merged. Those sent back by a redirect have status 303. */
function failuresOf({ dialect, failures, redirected = {} }: ApiOperation, config: Config, t: Translate) {
  const describeRow = ([name, row]: [string, FailureRow], status?: number) => {
    const failure = new NamedFailure(name, row, { value: VALUE })
    return dialect === 'contract' ? inContract(failure, config) : inStandard(failure, status)
  }
  const all = [
    ...Object.entries(failures).map((row) => describeRow(row)),
    ...Object.entries(redirected).map((row) => describeRow(row, 303)),
  ]
  const different = new Map(all.map((failure) => [`${failure.status} ${failure.code} ${failure.message}`, failure]))
  return [...different.values()]
    .sort((a, b) => a.status - b.status || a.code.localeCompare(b.code))
    .map(({ text, ...failure }) => ({ ...failure, meaning: worded(text, t) }))
}

/** `name` is what clients check; `message` is in English, as sent. */
function inContract(failure: NamedFailure, { ENVELOPE_HTTP_STATUS }: Config) {
  const answer = contractAnswer(failure)
  const { rescode, message, text } = answer
  const status = answer.status(ENVELOPE_HTTP_STATUS === 'native')
  return { status, code: String(rescode), name: nameOfRescode(rescode), message, text, body: failureEnvelope(answer) }
}

function inStandard(failure: NamedFailure, redirectStatus: number | undefined) {
  const { error, description, text, status } = oauthErrorOf(failure)
  const body = { error, error_description: description }
  return { status: redirectStatus ?? status, code: error, name: error, message: description, text, body }
}

export const MAX_SEARCH = 100

const searchTextOf = ({ title, about, method, path, requests, answers, failures }: DescribedOperation): string =>
  [
    ...[title, about, method, path],
    ...requests.flatMap(({ name, parameters }) => [
      name,
      ...parameters.flatMap((parameter) => [parameter.name, parameter.meaning]),
    ]),
    ...answers.flatMap(({ fields }) => fields.flatMap((field) => [field.name, field.meaning])),
    ...failures.flatMap(({ code, name, message, meaning }) => [code, name, message, meaning]),
  ]
    .join('\n')
    .toLowerCase()

/** The endpoints that contain every word; all of them for an empty search. */
export function matching(operations: readonly DescribedOperation[], search: string): readonly DescribedOperation[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean)
  return operations.filter((operation) => {
    const text = searchTextOf(operation)
    return words.every((word) => text.includes(word))
  })
}

/** The subset of JSON Schema (draft 2020-12) that our wire formats use. */
type Schema = Readonly<{
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

const meaningOf = (t: Translate, dialect: Dialect, name: string): string => t(keyOf(dialect, name))

/** The schema of a message, with fields described in the reader's language. */
function schemaOf(message: z.ZodType, t: Translate, dialect: Dialect): Schema {
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
function exampleFor(schema: Schema, dialect: Dialect): unknown {
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
const kindOf = ({ type = 'string', enum: values, const: only }: Schema): string =>
  values?.join(' | ') ?? (only === undefined ? type : String(only))
