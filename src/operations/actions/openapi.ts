import { type Action, namesIn, partsOf } from '../../platform/lib/action.ts'
import type { Translate } from '../../platform/lib/web/locale.ts'
import { fieldsOf, inputSchema } from './fields.ts'
import { hintOf, labelOf } from './texts.ts'

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
const RESPONSES = {
  BadInput: failed('20007: each problem with its field; nothing was done'),
  NoToken: failed('20003: no operator has this token'),
  NoRole: failed('20003: the operator’s role does not allow it'),
  NotFound: failed('20007: there is no such record'),
}
const ref = (name: keyof typeof RESPONSES): Part => ({ $ref: `#/components/responses/${name}` })

function operation(action: Action, t: Translate): Part {
  const { id, command, role, route, dangerous, respond } = action
  const { method } = partsOf(route)
  const { inPath, others, required } = parameters(action, t)
  const body = { type: 'object', properties: Object.fromEntries(others), required, additionalProperties: false }
  return {
    operationId: id,
    tags: [route.split('/')[1]],
    summary: t(`action.${id}`),
    description: t(`action.${id}.about`),
    'x-role': role,
    ...(command ? { 'x-command': `gatehouse ${command}` } : {}),
    ...(dangerous ? { 'x-dangerous': true } : {}),
    parameters: [...inPath, ...(method === 'GET' ? others.map(inQuery(required)) : [])],
    ...(method === 'GET' || others.length === 0
      ? {}
      : { requestBody: { required: method === 'PATCH' || required.length > 0, content: json(body) } }),
    responses: responses(respond ? fileContent(respond.types) : undefined),
  }
}

const preview = (action: Action, role: string, t: Translate): Part => ({
  operationId: `${action.id}_preview`,
  tags: [action.route.split('/')[1]],
  summary: t('actions.api.preview', { action: t(`action.${action.id}`) }),
  'x-role': role,
  parameters: parameters(action, t).inPath,
  responses: responses(),
})

/** A file is no envelope; what failed is one all the same. */
const fileContent = (types: readonly string[]): Part =>
  Object.fromEntries(
    types.map((type) => [
      type.replace(/;.*/, ''),
      { schema: { type: type.startsWith('application/json') ? 'object' : 'string' } },
    ]),
  )

const responses = (file?: Part): Part => ({
  200: file
    ? { description: 'the file', content: file }
    : { description: 'rescode 0', content: json(envelope({ const: 0 }, { type: 'object' })) },
  ...{ 400: ref('BadInput'), 401: ref('NoToken'), 403: ref('NoRole'), 404: ref('NotFound') },
})

const inQuery =
  (required: readonly string[]) =>
  ([name, schema]: readonly [string, Part]): Part => ({ name, in: 'query', required: required.includes(name), schema })

/** Each field with its schema and what is to be known of it. */
function parameters(action: Action, t: Translate) {
  const { properties = {}, required = [] } = inputSchema(action.input)
  const names = namesIn(partsOf(action.route).path)
  const paging = Object.keys(properties).filter((name) => !fieldsOf(action).some((field) => field.name === name))
  const described = Object.entries(properties).map(([name, schema]): [string, Part] => {
    const { flag: _flag, wire: _wire, apiOnly: _only, secret, ...given } = schema
    const rest = secret ? { ...given, format: 'password', writeOnly: true } : given
    return [
      name,
      paging.includes(name) ? rest : { description: hintOf(t, action, name) ?? labelOf(t, action, name), ...rest },
    ]
  })
  return {
    inPath: described
      .filter(([name]) => names.includes(name))
      .map(([name, schema]): Part => ({ name, in: 'path', required: true, schema })),
    others: described.filter(([name]) => !names.includes(name)),
    required: required.filter((name) => !names.includes(name)),
  }
}
