import { afterAll, beforeAll, expect, it } from 'vitest'
import { type App, Client, type Parameters } from '../acceptance/client.ts'
import { injectWire, queryOf } from '../acceptance/http.ts'
import { openWorld, type World } from '../harness.ts'
import { basicOf, FORM } from '../oidc/app.ts'

/** Parameters sent in the wrong place: the answer keeps the code for a missing one, and says where it belongs. */

const TOKEN = '/oauth/v2/api/token'
const USER = '/oauth/v2/api/resource/get_userinfo'

let world: World
let client: Client
let app: App
beforeAll(async () => {
  world = await openWorld()
  client = new Client(injectWire(world.app), world.deps.config.PUBLIC_URL)
  app = await client.makeApp({})
})
afterAll(() => world?.close())

const secret = () => ({ app_key: app.app_key, app_secret: app.app_secret })
const asForm = { 'content-type': FORM }
const asJson = { 'content-type': 'application/json' }

it.each<[string, () => readonly [path: string, headers: Record<string, string>, body?: string], string]>([
  [
    'A2, all but the credentials in a form',
    () => [`${TOKEN}?${queryOf(secret())}`, asForm, 'grant_type=authorization_code&code=x'],
    'Invalid request: grant_type is missing; parameters go in the query string, not in a body',
  ],
  [
    'A3, the token in JSON',
    () => [`${TOKEN}?${queryOf({ ...secret(), grant_type: 'refresh_token' })}`, asJson, '{"refresh_token":"x"}'],
    'Invalid request: refresh_token is missing; parameters go in the query string, not in a body',
  ],
  [
    'A5, the token in a form',
    () => [USER, asForm, 'access_token=x'],
    'Invalid request: access_token is missing; parameters go in the query string, not in a body',
  ],
  [
    'A5, the token in a header',
    () => [USER, { authorization: 'Bearer x' }],
    'Invalid request: access_token is missing; it goes in the query string, not in a header',
  ],
  ['A5, no token anywhere', () => [USER, {}], 'Invalid request: access_token is missing'],
])('the contract dialect says where parameters belong: %s', async (_name, made, message) => {
  const [path, headers, body] = made()
  const { status, text } = await client.call('POST', path, headers, body)
  expect([status, JSON.parse(text)]).toEqual([200, { rescode: 20007, data: { message } }])
})

const exchange = (changes: Parameters = {}) => queryOf({ grant_type: 'authorization_code', code: 'x', ...changes })

it.each<[string, () => readonly ['GET' | 'POST', path: string, headers: Record<string, string>], number, object]>([
  [
    'the exchange in the query, the client in a header',
    () => ['POST', `/oauth2/token?${exchange()}`, { authorization: basicOf(app.app_key, app.app_secret) }],
    400,
    {
      error: 'invalid_request',
      error_description: 'grant_type is missing; parameters go in a form in the body, not in the query',
    },
  ],
  [
    'everything in the query',
    () => ['POST', `/oauth2/token?${exchange({ client_id: app.app_key, client_secret: app.app_secret })}`, {}],
    401,
    {
      error: 'invalid_client',
      error_description:
        'client authentication failed; client_id and client_secret go in the Authorization header or in the form, not in the query',
    },
  ],
  ...(['GET', 'POST'] as const).map(
    (method): [string, () => readonly ['GET' | 'POST', string, Record<string, string>], number, object] => [
      `${method} userinfo with the token in the query`,
      () => [method, '/oauth2/userinfo?access_token=x', {}],
      401,
      {
        error: 'invalid_request',
        error_description:
          'an access token is missing; it goes in the Authorization header, with POST also in the form, not in the query',
      },
    ],
  ),
  [
    'nothing anywhere',
    () => ['POST', '/oauth2/token', {}],
    401,
    { error: 'invalid_client', error_description: 'client authentication failed' },
  ],
])('the standard dialect says where parameters belong: %s', async (_name, made, status, body) => {
  const answer = await client.call(...made())
  expect([answer.status, JSON.parse(answer.text)]).toEqual([status, body])
})
