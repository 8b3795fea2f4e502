import { Validator } from '@seriousme/openapi-schema-validator'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ALL_ACTIONS } from '../../src/operations/actions/index.ts'
import { ADMIN_TOKEN, openWorld, type World } from '../harness.ts'

/** The OpenAPI document of the operator API, which is generated from the actions. */

let world: World
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

const documentIn = async (language: string) => {
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}`, 'accept-language': language }
  return (await world.app.inject({ url: '/admin/v1/openapi.json', headers })).json()
}

it.each(['en', 'zh-CN'])('is valid and has every action with its role and command: %s', async (language) => {
  const document = await documentIn(language)
  expect(await new Validator().validate(structuredClone(document))).toEqual({ valid: true })
  for (const { id, route, role, command } of ALL_ACTIONS) {
    const [method = '', path = ''] = route.split(' ')
    const described = document.paths[path.replace(/:(\w+)/g, '{$1}')][method.toLowerCase()]
    expect(described).toMatchObject({
      operationId: id,
      'x-role': role,
      ...(command ? { 'x-command': `gatehouse ${command}` } : {}),
    })
    expect(described.description).toMatch(language === 'en' ? /^[A-Z].*\.$/ : /\p{Script=Han}.*。$/u)
  }
})

it('describes the type and purpose of each field', async () => {
  const { paths } = await documentIn('en')
  const { properties, required } = paths['/apps'].post.requestBody.content['application/json'].schema
  expect(properties.refresh_days).toEqual({
    type: 'integer',
    enum: [7, 30, 60, 90],
    default: 30,
    description: 'days that a refresh token lives',
  })
  expect(required).toEqual(['name', 'scopes'])
  expect(paths['/apps/{app_key}/end-tokens'].get).toMatchObject({
    'x-role': 'viewer',
    operationId: 'app_end_tokens_preview',
  })
  const limit = paths['/apps'].get.parameters.find((one: { name: string }) => one.name === 'limit')
  expect(limit).toMatchObject({ in: 'query', required: false, schema: { maximum: 1000 } })
})

/** Every schema in a part of the document, with its path. */
function schemasIn(part: unknown, path = ''): [path: string, schema: Record<string, unknown>][] {
  if (typeof part !== 'object' || part === null) return []
  const inside = Object.entries(part).flatMap(([name, one]) => schemasIn(one, `${path}/${name}`))
  const isSchema = /\/(schema|items|anyOf\/\d+|properties\/\w+)$/.test(path) && !Array.isArray(part)
  return isSchema ? [[path, part as Record<string, unknown>], ...inside] : inside
}

it('has only schemas for which client generators produce code that compiles', async () => {
  const { paths } = await documentIn('en')
  const faulty = schemasIn(paths).filter(
    ([, { type, anyOf, oneOf, enum: values, default: initially, wire, flag, minimum, maximum, pattern, ...rest }]) =>
      /\\p\{/.test(String(pattern)) ||
      (!type && !anyOf && !oneOf && !('const' in rest)) ||
      (anyOf as unknown[] | undefined)?.some((one) => Object.keys(one as object).length === 0) ||
      initially === null ||
      (typeof initially === 'object' && Object.keys(initially as object).length === 0) ||
      wire !== undefined ||
      flag !== undefined ||
      (type === 'number' && (values as unknown[] | undefined)?.every(Number.isInteger)) ||
      [minimum, maximum].some((bound) => Math.abs(Number(bound ?? 0)) === Number.MAX_SAFE_INTEGER),
  )
  expect(faulty.map(([path]) => path)).toEqual([])
})

it('has exactly one type for each parameter', async () => {
  const { paths } = await documentIn('en')
  const parameters = Object.values<Record<string, { parameters: { name: string; schema: { type?: string } }[] }>>(
    paths,
  ).flatMap((methods) => Object.values(methods).flatMap((operation) => operation.parameters))
  expect(parameters.filter(({ schema }) => typeof schema.type !== 'string').map(({ name }) => name)).toEqual([])
  const [id] = paths['/orders/{order_id}'].get.parameters
  expect(id.schema).toMatchObject({ type: 'string', pattern: '^\\d+$' })
})

it('allows 64-bit ids as integer or string, and prices as number or string', async () => {
  const { paths } = await documentIn('en')
  const { properties } = paths['/orders'].post.requestBody.content['application/json'].schema
  expect(properties.order_id.anyOf).toEqual([
    { type: 'integer', format: 'int64' },
    { type: 'string', pattern: '^\\d+$' },
  ])
  expect(properties.unit_price.anyOf).toEqual([{ type: 'number' }, { type: 'string' }])
  const partner = paths['/partners'].post.requestBody.content['application/json'].schema.properties
  expect(partner.base_url).toMatchObject({ type: ['string', 'null'], maxLength: 2048 })
})

it('describes the users of an import and the parameters of a preview', async () => {
  const { paths } = await documentIn('en')
  const [dry, real] = paths['/users/import'].post.requestBody.content['application/json'].schema.oneOf
  expect(dry).toMatchObject({ type: 'object', required: ['dry_run', 'users'] })
  expect(dry.properties.users.items.properties).not.toHaveProperty('password_hash')
  expect(real.properties.users.items.properties).toHaveProperty('password_hash')
  const named = ({ name, required }: { name: string; required: boolean }) => [name, required]
  for (const path of ['/users/erase', '/users/end-sessions'])
    expect(paths[path].get.parameters.map(named)).toEqual([
      ['cid', true],
      ['user_id', true],
    ])
  expect(paths['/apps/{app_key}/end-tokens'].get.parameters.map(named)).toEqual([['app_key', true]])
})

it('describes the rows of a list and the cursor of its next page', async () => {
  const { paths } = await documentIn('en')
  const dataOf = (path: string) => paths[path].get.responses[200].content['application/json'].schema.properties.data
  expect(dataOf('/orders')).toEqual({
    type: 'object',
    required: ['orders', 'next'],
    properties: { orders: { type: 'array', items: { type: 'object' } }, next: { type: ['string', 'null'] } },
  })
  expect(dataOf('/settings').required).toEqual(['settings'])
})

it('describes an id as it applies to the operation', async () => {
  const { paths } = await documentIn('en')
  const [partner] = paths['/partners/{partner_id}'].get.parameters
  expect(partner.schema.description).toBe('PartnerId')
  const { properties } = paths['/orders'].post.requestBody.content['application/json'].schema
  expect(properties.partner_id.description).toBe('PartnerId')
  const created = paths['/partners'].post.requestBody.content['application/json'].schema.properties
  expect(created.partner_id.description).toMatch(/next free one/)
})

it('describes downloads as files, and their errors as envelopes', async () => {
  const { paths } = await documentIn('en')
  const { 200: file, 403: failed } = paths['/audit/export'].get.responses
  expect(Object.keys(file.content)).toEqual(['text/csv', 'application/x-ndjson'])
  expect(file.content['text/csv'].schema).toEqual({ type: 'string' })
  expect(failed).toEqual({ $ref: '#/components/responses/NoRole' })
  expect(paths['/users/{cid}/{user_id}/export'].get.responses[200].content).toEqual({
    'application/json': { schema: { type: 'object' } },
  })
})

it('is for operators only', async () => {
  expect((await world.app.inject('/admin/v1/openapi.json')).statusCode).toBe(401)
})
