import type { Config } from '../../platform/config/index.ts'
import type { Translate } from '../../platform/lib/web/locale.ts'
import {
  type DescribedOperation,
  type DescribedResponse,
  describeOperations,
  type ReportedFailure,
  type RequestKind,
} from './reference.ts'

type Part = Readonly<Record<string, unknown>>

/** The OpenAPI 3.1 document of both dialects, in one language. */
export function openApi(config: Config, t: Translate): Part {
  const operations = describeOperations(config, t)
  const paths: Record<string, Record<string, Part>> = {}
  for (const operation of operations) {
    paths[operation.path] = { ...paths[operation.path], [operation.method]: operationObject(operation, config, t) }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: t('api.title'),
      version: '1',
      description: t('api.lead'),
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: config.PUBLIC_URL }],
    tags: [
      { name: 'standard', description: t('api.standard') },
      { name: 'contract', description: `${t('api.contract')} ${t('api.js_ticket')}` },
    ],
    paths,
    components: {
      securitySchemes: {
        client: { type: 'http', scheme: 'basic', description: t('api.security.client') },
        token: { type: 'http', scheme: 'bearer', description: t('api.security.token') },
      },
      responses: {
        ContractOutage: outage(t('api.outage'), { rescode: 20013, data: { message: 'Server error' } }),
        StandardOutage: outage(t('api.outage'), { error: 'server_error', error_description: 'the server failed' }),
      },
    },
  }
}

const outage = (description: string, example: object): Part => ({
  description,
  headers: { 'Retry-After': { schema: { type: 'integer' } } },
  content: { 'application/json': { schema: { type: 'object' }, examples: { failure: { value: example } } } },
})

function operationObject(operation: DescribedOperation, config: Config, t: Translate): Part {
  const { id, dialect, title, about, url, path, place, requests, caller } = operation
  const server = url.slice(0, -path.length)
  const outages = { $ref: `#/components/responses/${dialect === 'contract' ? 'Contract' : 'Standard'}Outage` }
  return {
    operationId: id,
    tags: [dialect],
    summary: title,
    description: about,
    ...(server === config.PUBLIC_URL ? {} : { servers: [{ url: server }] }),
    // Alternatively, clients authenticate by parameters.
    security: caller === 'client' ? [{ client: [] }, {}] : caller === 'token' ? [{ token: [] }, {}] : [],
    ...(place === 'query' && requests.length > 0 ? { parameters: queryParameters(requests) } : {}),
    ...(place === 'form' ? { requestBody: formBody(requests) } : {}),
    responses: { ...responses(operation, t), 500: outages, 503: outages },
  }
}

/** A parameter is required if every kind of request needs it. */
function queryParameters(requests: readonly RequestKind[]): Part[] {
  const names = new Set(requests.flatMap(({ parameters }) => parameters.map(({ name }) => name)))
  return [...names].map((name) => {
    const found = requests.map(({ parameters }) => parameters.find((parameter) => parameter.name === name))
    const [first] = found.filter((parameter) => parameter !== undefined)
    if (!first) throw new Error(`no parameter ${name}`)
    const values = found.flatMap((parameter) => (parameter?.schema.const === undefined ? [] : [parameter.schema.const]))
    return {
      ...{ name, in: 'query', description: first.meaning },
      required: found.every((parameter) => parameter?.required),
      schema: values.length > 1 ? { type: 'string', enum: values } : first.schema,
      ...(first.example === undefined ? {} : { example: first.example }),
    }
  })
}

const formBody = (requests: readonly RequestKind[]): Part => ({
  required: true,
  content: {
    'application/x-www-form-urlencoded': {
      schema: requests.length === 1 ? requests[0]?.schema : { oneOf: requests.map(({ schema }) => schema) },
      examples: Object.fromEntries(requests.map(({ name, example }) => [name || 'request', { value: example }])),
    },
  },
})

function responses({ dialect, answers, failures }: DescribedOperation, t: Translate): Record<string, Part> {
  const statuses = new Set([...answers, ...failures].map(({ status }) => status))
  return Object.fromEntries(
    [...statuses].map((status) => {
      const answer = answers.find((response) => response.status === status)
      const refused = failures.filter((failure) => failure.status === status)
      if (status === 303) return [status, redirect(answer, refused, t)]
      return [status, response(dialect, answer, refused, t)]
    }),
  )
}

function redirect(answer: DescribedResponse | undefined, refused: readonly ReportedFailure[], t: Translate): Part {
  const fields = (answer?.fields ?? []).map(({ name, meaning }) => `- \`${name}\`: ${meaning}`)
  const errors = [...new Set(refused.map(({ code }) => code))].map((code) => `\`${code}\``)
  const failed = errors.length > 0 ? [t('api.redirect_errors', { errors: errors.join(t('layout.between')) })] : []
  return {
    description: [t('api.answer.redirect'), ...fields, ...failed].join('\n'),
    headers: { Location: { description: t('api.answer.redirect'), schema: { type: 'string', format: 'uri' } } },
  }
}

function response(
  dialect: DescribedOperation['dialect'],
  answer: DescribedResponse | undefined,
  refused: readonly ReportedFailure[],
  t: Translate,
): Part {
  const json = answer?.kind === 'json' ? answer : undefined
  const schemas = [...(json ? [json.schema] : []), ...(refused.length > 0 ? [failureSchema(dialect, refused, t)] : [])]
  const examples = {
    ...(json ? { success: { value: json.example } } : {}),
    ...Object.fromEntries(
      refused.map((failure, index) => [
        `${failure.code}_${index + 1}`,
        { summary: failure.message, value: failure.body },
      ]),
    ),
  }
  const described = answer ? t(`api.answer.${answer.kind}`) : t('api.refused')
  return {
    description: described,
    content: {
      ...(answer?.kind === 'page' ? { 'text/html': { schema: { type: 'string' } } } : {}),
      ...(schemas.length > 0
        ? { 'application/json': { schema: schemas.length === 1 ? schemas[0] : { anyOf: schemas }, examples } }
        : {}),
    },
  }
}

function failureSchema(dialect: DescribedOperation['dialect'], refused: readonly ReportedFailure[], t: Translate) {
  const codes = [...new Set(refused.map(({ code }) => code))]
  const text = (name: string, more: Part = {}) => ({ type: 'string', description: t(`api.field.${name}`), ...more })
  if (dialect === 'standard') {
    const properties = { error: text('error', { enum: codes }), error_description: text('error_description') }
    return { type: 'object', properties, required: ['error', 'error_description'] }
  }
  const rescode = { type: 'integer', description: t('api.field.rescode'), enum: codes.map(Number) }
  const data = { type: 'object', properties: { message: text('message') }, required: ['message'] }
  return { type: 'object', properties: { rescode, data }, required: ['rescode', 'data'] }
}
