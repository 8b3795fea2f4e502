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
import { sentExampleOf } from './examples.ts'
import { exampleFor, kindOf, meaningOf, type Schema, schemaOf } from './schema.ts'

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
