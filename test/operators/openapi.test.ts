import { Validator } from '@seriousme/openapi-schema-validator'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ALL_ACTIONS } from '../../src/operations/actions/index.ts'
import { ADMIN_TOKEN, openWorld, type World } from '../harness.ts'

/** The description of the operators' API, which is made of the actions. */

let world: World
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

const documentIn = async (language: string) => {
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}`, 'accept-language': language }
  return (await world.app.inject({ url: '/admin/v1/openapi.json', headers })).json()
}

it.each(['en', 'zh-CN'])('is valid OpenAPI, and has every action with its role and command: %s', async (language) => {
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

it('says of each field what it may be and what it is for', async () => {
  const { paths } = await documentIn('en')
  const { properties, required } = paths['/apps'].post.requestBody.content['application/json'].schema
  expect(properties.refresh_days).toEqual({
    type: 'number',
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

it('describes files as files, and failures of theirs as envelopes', async () => {
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
