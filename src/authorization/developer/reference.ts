import type { Config } from '../../platform/config/index.ts'
import type { ApiOperation } from '../../platform/lib/web/api-operation.ts'
import type { Translate } from '../../platform/lib/web/locale.ts'
import { worded } from '../../platform/lib/web/worded.ts'
import { OAUTH_API } from '../oauth/index.ts'
import { OIDC_API } from '../oidc/index.ts'
import { RESOURCE_API } from '../resource/index.ts'
import { sentExampleOf } from './examples.ts'
import { type ReportedFailure, reportedFailures } from './failures.ts'
import { exampleFor, kindOf, meaningOf, type Schema, schemaOf } from './schema.ts'

/** Every endpoint for apps, in the order of use. */
export const OPERATIONS: readonly ApiOperation[] = [...OIDC_API, ...OAUTH_API, ...RESOURCE_API]

interface Parameter {
  readonly name: string
  readonly kind: string
  readonly meaning: string
  readonly required: boolean
  readonly schema: Schema
  readonly example: string | undefined
}

/** One kind of request; most endpoints have only one. */
export interface RequestKind {
  /** The value of grant_type; empty if there is only one kind. */
  readonly name: string
  readonly schema: Schema
  readonly parameters: readonly Parameter[]
  /** Values by name. */
  readonly example: Readonly<Record<string, string>>
}

export interface DescribedResponse {
  readonly status: number
  readonly kind: 'page' | 'redirect' | 'json'
  readonly schema: Schema
  readonly fields: readonly Field[]
  readonly example: unknown
}

interface Field {
  readonly name: string
  readonly kind: string
  readonly meaning: string
  readonly depth: number
}

/** One endpoint, described in one language. */
export interface DescribedOperation extends Pick<ApiOperation, 'id' | 'dialect' | 'method' | 'path' | 'caller'> {
  readonly title: string
  readonly about: string
  readonly url: string
  /** Where its parameters go. */
  readonly place: 'query' | 'form'
  readonly requests: readonly RequestKind[]
  readonly answers: readonly DescribedResponse[]
  /** `meaning` is the message in the reader's language. */
  readonly failures: readonly (ReportedFailure & { readonly meaning: string })[]
}

export const describeOperations = (config: Config, t: Translate): DescribedOperation[] =>
  OPERATIONS.map((operation) => describe(operation, config, t))

function describe(operation: ApiOperation, config: Config, t: Translate): DescribedOperation {
  const { id, dialect, method, path, at, caller, query, form } = operation
  return {
    ...{ id, dialect, method, path, caller },
    title: t(`api.${id}.title`),
    about: t(`api.${id}.about`),
    url: `${config[at]}${path}`,
    place: form ? 'form' : 'query',
    requests: (form ?? query ?? []).map((message) => requestKind(schemaOf(message, t, dialect), operation, config, t)),
    answers: Object.entries(operation.answers).map(([status, answer]) =>
      answerOf(Number(status), answer, operation, t),
    ),
    failures: reportedFailures(operation, config.ENVELOPE_HTTP_STATUS === 'native').map((failure) => ({
      ...failure,
      meaning: worded(failure.text, t),
    })),
  }
}

function requestKind(schema: Schema, { dialect }: ApiOperation, config: Config, t: Translate): RequestKind {
  const { properties = {}, required: needed = [] } = schema
  const parameters = Object.entries(properties).map(([name, { description: _, ...property }]): Parameter => {
    const required = needed.includes(name)
    const only = required && property.const !== undefined ? String(property.const) : undefined
    const example = only ?? sentExampleOf(config, dialect, name)
    return { name, kind: kindOf(property), meaning: meaningOf(t, dialect, name), required, schema: property, example }
  })
  const known = parameters.flatMap(({ name, example }) => (example === undefined ? [] : [[name, example] as const]))
  return {
    name: String(properties.grant_type?.const ?? ''),
    schema,
    parameters,
    example: Object.fromEntries(known),
  }
}

function answerOf(
  status: number,
  answer: ApiOperation['answers'][number],
  { dialect }: ApiOperation,
  t: Translate,
): DescribedResponse {
  if (answer === 'page') return { status, kind: 'page', schema: {}, fields: [], example: undefined }
  const kind = 'json' in answer ? 'json' : 'redirect'
  const data = schemaOf('json' in answer ? answer.json : answer.redirect, t, dialect)
  const example = exampleFor(data, dialect)
  const enveloped = dialect === 'contract' && kind === 'json'
  return {
    status,
    kind,
    schema: enveloped ? envelope(data, t) : data,
    fields: fieldsOf(data),
    example: enveloped ? { rescode: 0, data: example } : example,
  }
}

const envelope = (data: Schema, t: Translate): Schema => ({
  type: 'object',
  properties: { rescode: { description: t('api.field.rescode'), const: 0 }, data },
  required: ['rescode', 'data'],
})

function fieldsOf({ properties = {}, anyOf, items }: Schema, depth = 0): Field[] {
  const first = anyOf?.[0] ?? items
  if (first) return fieldsOf(first, depth)
  return Object.entries(properties).flatMap(([name, property]) => [
    { name, kind: kindOf(property), meaning: property.description ?? '', depth },
    ...fieldsOf(property, depth + 1),
  ])
}

export const MAX_SEARCH = 100

/** The text in which searches look. */
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
