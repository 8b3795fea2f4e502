import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import { beforeAll, describe, expect, it } from 'vitest'
import { exampleOf, sentExampleOf, WITHOUT_DEMO } from '../../src/authorization/developer/examples.ts'
import { OPERATIONS } from '../../src/authorization/developer/reference.ts'
import { readConfig } from '../../src/platform/config/index.ts'
import { ALICE, Client } from '../acceptance/client.ts'
import { httpWire } from '../acceptance/http.ts'
import { visit } from '../oidc/person.ts'
import { documentOf, type Json, operationsOf, origins } from './document.ts'

/** Every operation of the OpenAPI document works with its examples, and its responses match the schemas. */

function expectMatch(schema: Json, value: unknown, about: string): void {
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  formats.default(ajv)
  const validate = ajv.compile(schema)
  expect(validate(value) ? [] : validate.errors, `${about} ${JSON.stringify(value)}`).toEqual([])
}

type Values = Record<string, string>

/** The example values of the query parameters. */
const queryExample = (operation: Json): Values =>
  Object.fromEntries(
    (operation.parameters ?? []).flatMap(({ name, example }: Json) => (example === undefined ? [] : [[name, example]])),
  )

const dialectOf = (id: string) => (id.startsWith('contract_') ? 'contract' : 'standard')

/** Replaces the placeholders of a document without the demo by the demo's values. */
const withDemoValues = (id: string, shown: Values): Values =>
  Object.fromEntries(
    Object.entries(shown).map(([name, value]) => [
      name,
      value === WITHOUT_DEMO[name] ? String(exampleOf(dialectOf(id), name)) : value,
    ]),
  )

/** The example requests of the operation. */
function requestsOf(operation: Json): Values[] {
  const form = operation.requestBody?.content['application/x-www-form-urlencoded']
  if (form) return Object.values<Json>(form.examples).map(({ value }) => withDemoValues(operation.operationId, value))
  const given = withDemoValues(operation.operationId, queryExample(operation))
  if (operation.operationId !== 'contract_token') return [given]
  // Both grants share one list of parameters.
  const { code = '', state = '', redirect_uri = '', refresh_token = '', ...client } = given
  return [
    { ...client, code, state, redirect_uri, grant_type: 'authorization_code' },
    { ...client, refresh_token, grant_type: 'refresh_token' },
  ]
}

it('an example request of the contract comes back to the demo micro-app, on whatever port it listens', () => {
  const config = readConfig({ DEMO: 'on', DEMO_PORT: '7301' })
  expect(sentExampleOf(config, 'contract', 'redirect_uri')).toBe('http://localhost:7301/callback')
})

describe.each([0, 1])('an operation of the OpenAPI document, on process %i', (at) => {
  let client: Client
  let origin: string
  let document: Json
  beforeAll(async () => {
    origin = (await origins())[at] ?? ''
    client = new Client(httpWire(origin), origin)
    document = await documentOf(origin)
  })

  function operationOf(id: string): [route: string, operation: Json] {
    const found = operationsOf(document).find(([, { operationId }]) => operationId === id)
    if (!found) throw new Error(`no operation ${id}`)
    return found
  }

  async function send(id: string, request: Values, token?: string) {
    const [route, { requestBody }] = operationOf(id)
    const [method = '', path = ''] = route.split(' ')
    const text = new URLSearchParams(request).toString()
    const answer = await fetch(origin + path + (requestBody || text === '' ? '' : `?${text}`), {
      method,
      redirect: 'manual',
      headers: token ? { authorization: `Bearer ${token}` } : {},
      ...(requestBody ? { body: new URLSearchParams(request) } : {}),
    })
    const body = await answer.text()
    const isJson = answer.headers.get('content-type')?.startsWith('application/json')
    return { status: answer.status, body: isJson ? JSON.parse(body) : body, isJson }
  }

  /** The example with its code and tokens replaced by ones that work. */
  async function withValidTokens(id: string, example: Values): Promise<Values> {
    const needs = ['code', 'refresh_token', 'access_token', 'token'].filter((name) => name in example)
    if (needs.length === 0) return example
    const [authorize, exchange] =
      dialectOf(id) === 'contract' ? ['contract_authorize', 'contract_token'] : ['authorize', 'token']
    const [route, operation] = operationOf(authorize ?? '')
    const query = new URLSearchParams(requestsOf(operation)[0])
    const { location } = await visit(client.newBrowser(), `${route.split(' ')[1]}?${query}`, { user: ALICE })
    const code = location.searchParams.get('code') ?? ''
    if (needs.includes('code')) return { ...example, code }
    const { body } = await send(exchange ?? '', { ...requestsOf(operationOf(exchange ?? '')[1])[0], code })
    const { access_token, refresh_token } = body.data ?? body
    const given: Values = { refresh_token, access_token, token: access_token }
    return { ...example, ...Object.fromEntries(needs.map((name) => [name, given[name] ?? ''])) }
  }

  function expectDocumented(
    id: string,
    { status, body, isJson }: Awaited<ReturnType<typeof send>>,
    about: string,
  ): void {
    const documented = operationOf(id)[1].responses[status]
    expect(documented, `${id}: ${about} gave ${status} ${JSON.stringify(body)}`).toBeDefined()
    if (isJson) expectMatch(documented.content['application/json'].schema, body, `${id}: ${about}`)
  }

  it.each(OPERATIONS.map(({ id }) => id))('%s succeeds with its examples', async (id) => {
    const token =
      id === 'userinfo' ? (await withValidTokens('userinfo_form', { access_token: '' })).access_token : undefined
    for (const request of requestsOf(operationOf(id)[1])) {
      const answer = await send(id, await withValidTokens(id, request), token)
      expectDocumented(id, answer, JSON.stringify(request))
      expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(400)
      if (answer.isJson) expect(answer.body.rescode ?? 0, JSON.stringify(answer.body)).toBe(0)
    }
  })

  it.each(OPERATIONS.map(({ id }) => id))(
    '%s fails as documented without parameters and with the example tokens',
    async (id) => {
      expectDocumented(id, await send(id, {}), 'nothing')
      for (const request of requestsOf(operationOf(id)[1]))
        expectDocumented(id, await send(id, request, 'ghat_none'), 'the example')
    },
  )
})
