import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Client } from '../acceptance/client.ts'
import { visibleText } from '../acceptance/form.ts'
import { openWorld, type World } from '../harness.ts'
import { clientOf, type Developer, founder, registered, tester, withAuthenticator } from '../teams/people.ts'
import { until } from '../until.ts'

/** What developers read about the requests of their app that were refused: each mistake names its mend. */

let world: World
let client: Client
let owner: Developer & { team: string }
let app: { app_key: string; app_secret: string; redirect_uri: string }
beforeAll(async () => {
  world = await openWorld()
  client = clientOf(world)
  owner = await founder(world)
  await withAuthenticator(world, owner)
  const app_key = await registered(owner)
  const made = await owner.browser.send('POST', `/developer/apps/${app_key}/secret`, { replaces: '' })
  const app_secret = /<pre[^>]*>(ghas_[^<]+)<\/pre>/.exec(made.text)?.[1] ?? ''
  app = { app_key, app_secret, redirect_uri: 'http://localhost:8000/callback' }
})
afterAll(() => world?.close())

const seen = async (query = '') =>
  visibleText((await owner.browser.open(`/developer/apps/${app.app_key}/failures${query}`)).text).replace(/\s+/g, ' ')
const authorize = (changes: Record<string, string | undefined>) => async () => {
  const browser = await tester(world, owner, app.app_key)
  return browser.open(client.authorizePath(client.request(app, { scope: 'USER_INFO', ...changes })))
}
const consented = async (changes: Record<string, string> = {}) =>
  client.getCode(await tester(world, owner, app.app_key), app, { scope: 'USER_INFO', ...changes })
const form = (path: string, fields: Record<string, string>, headers = {}) =>
  client.call(
    'POST',
    path,
    { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    String(new URLSearchParams(fields)),
  )

/** A mistake, and words of what mends it. */
const MISTAKES: readonly [string, () => Promise<{ headers: Record<string, unknown> }>, string][] = [
  ['a wrong redirect URI', authorize({ redirect_uri: 'http://localhost:8000/other' }), 'or register this one'],
  ['an address that is for later', authorize({ redirect_uri: 'https://app.example.com/callback' }), 'your own machine'],
  ['a scope that nobody knows', authorize({ scope: 'email' }), 'Ask for USER_INFO or PHONE_NUMBER'],
  ['a scope that it does not hold', authorize({ scope: 'PHONE_NUMBER' }), 'The app does not hold this scope'],
  ['a state with other characters', authorize({ state: 'a-b' }), '1 to 128 letters and digits'],
  ['no state', authorize({ state: undefined }), 'Send each parameter'],
  ['another response type', authorize({ response_type: 'token' }), 'Send response_type=code'],
  [
    'a person who is no test user',
    () => owner.browser.open(client.authorizePath(client.request(app, { scope: 'USER_INFO' }))),
    'one of the test users',
  ],
  [
    'a wrong secret',
    () => client.token(client.exchangeParameters({ ...app, app_secret: 'wrong' }, { code: 'x', state: 'x' })),
    'Compare the secret',
  ],
  [
    'another grant type',
    () => client.token(client.exchangeParameters(app, { code: 'x', state: 'x' }, { grant_type: 'password' })),
    'Send grant_type=authorization_code',
  ],
  [
    'a code that is none',
    () => client.token(client.exchangeParameters(app, { code: 'x', state: 'x' })),
    'whole and unchanged',
  ],
  [
    'a code twice',
    async () => {
      const code = await consented()
      await client.exchange(app, code)
      return client.exchange(app, code)
    },
    'A code works once',
  ],
  [
    'a code late',
    async () => {
      const code = await consented()
      world.clock.advance(301)
      return client.exchange(app, code)
    },
    'A code lasts five minutes',
  ],
  [
    'another state',
    async () => client.exchange(app, { ...(await consented()), state: 'other' }),
    'Send the state of the authorization page',
  ],
  [
    'another redirect URI',
    async () => client.exchange({ ...app, redirect_uri: 'http://localhost:1/' }, await consented()),
    'Send the same redirect_uri',
  ],
  [
    'a verifier without a challenge',
    async () => client.exchange(app, await consented(), { code_verifier: 'v'.repeat(43) }),
    'none where there was no challenge',
  ],
  ['a refresh token that is none', () => client.refresh(app, 'x'), 'Send the refresh token of the last answer'],
  [
    'both ways at once',
    () =>
      form(
        '/oauth2/token',
        {
          client_id: app.app_key,
          client_secret: app.app_secret,
          grant_type: 'authorization_code',
          code: 'x',
          redirect_uri: 'x',
        },
        { authorization: `Basic ${btoa(`${app.app_key}:${app.app_secret}`)}` },
      ),
    'in one way alone',
  ],
  [
    'a redirect URI that is unknown to OAuth 2.0',
    async () =>
      (await tester(world, owner, app.app_key)).send(
        'GET',
        `/oauth2/authorize?${new URLSearchParams({ client_id: app.app_key, redirect_uri: 'http://localhost:1/', response_type: 'code', scope: 'openid' })}`,
      ),
    'or register this one',
  ],
]

it.each(MISTAKES)('%s is there by its number, with what mends it', async (_name, make, mend) => {
  const answer = await make()
  const id = String(answer.headers['x-request-id'])
  await until(async () => (await seen(`?request_id=${id}`)).includes(mend))
})

it('shows what was received beside what is registered, and nothing about people', async () => {
  const answer = await authorize({ redirect_uri: 'http://localhost:8000/elsewhere?secret=1' })()
  const id = String(answer.headers['x-request-id'])
  await until(async () => (await seen(`?request_id=${id}`)).includes('How to fix it'))
  const text = await seen(`?request_id=${id}`)
  expect(text).toContain('Received redirect_uri http://localhost:8000/elsewhere?…')
  expect(text).toContain('Registered http://localhost:8000/callback')
  expect(await seen()).not.toMatch(/test-[0-9a-f]{8}|ghac_|ghat_|secret=1/)
})

it('of another app shows nothing, by its number either', async () => {
  const other = await founder(world)
  const made = await registered(other)
  const { rows } = await world.pool.query('select request_id from refused_request where app_key = $1 limit 1', [
    app.app_key,
  ])
  const page = await other.browser.open(`/developer/apps/${made}/failures?request_id=${rows[0].request_id}`)
  expect(visibleText(page.text)).toContain('No refused request of this app has this number.')
})
