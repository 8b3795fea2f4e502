import { afterAll, beforeAll, expect, it } from 'vitest'
import { type App, Client } from '../acceptance/client.ts'
import { visibleText } from '../acceptance/form.ts'
import { injectWire } from '../acceptance/http.ts'
import { openWorld, type World } from '../harness.ts'

/** Error pages for people whom an app sent here with an invalid request, or who opened the address of a form. */

let world: World
let client: Client
let app: App
beforeAll(async () => {
  world = await openWorld()
  client = new Client(injectWire(world.app), world.deps.config.PUBLIC_URL)
  app = await client.makeApp()
})
afterAll(() => world?.close())

const html = { accept: 'text/html' }

it.each([
  ['state is missing', { state: undefined }, 'state is missing'],
  ['state is empty', { state: '' }, 'state is missing'],
  ['state has other characters', { state: 'a-b/c' }, 'received: a-b/c'],
  ['state is too long', { state: 'a'.repeat(131) }, 'state is longer than 128 bytes; received: 131 bytes'],
  ['redirect_uri is no URL', { redirect_uri: '/callback' }, 'redirect_uri is not an absolute URL; received: /callback'],
  ['redirect_uri is missing', { redirect_uri: undefined }, 'redirect_uri is missing'],
  ['PKCE is plain', { code_challenge: 'x', code_challenge_method: 'plain' }, 'must be S256; received: plain'],
  ['the challenge is short', { code_challenge: 'x', code_challenge_method: 'S256' }, 'SHA-256; received: x'],
])('the page blames the app and shows the parameter and its value if %s', async (_what, changes, expected) => {
  const path = client.authorizePath(client.request(app, changes))
  const english = visibleText((await client.call('GET', path, { ...html, 'accept-language': 'en' })).text)
  expect(english).toContain('The app’s request was not accepted')
  expect(english).toContain('you did nothing wrong')
  expect(english).toContain(expected)
  const chinese = visibleText((await client.call('GET', path, { ...html, 'accept-language': 'zh-CN' })).text)
  expect(chinese).toContain('应用的请求未被接受')
  expect(chinese).not.toContain('链接不完整')
})

it('an empty challenge counts as missing, but is an error if a method is given', async () => {
  const ask = (changes: object) => client.call('GET', client.authorizePath(client.request(app, { ...changes })))
  const empty = await ask({ code_challenge: '', code_challenge_method: '' })
  expect(empty.headers.location).toMatch(/^\/sign-in\?/)
  const half = await ask({ code_challenge: '', code_challenge_method: 'S256' })
  expect(half.text).toContain('base64url SHA-256; received: none')
})

it('received values are escaped', async () => {
  const { text } = await client.call('GET', client.authorizePath(client.request(app, { state: '<b>x</b>' })), html)
  expect(text).toContain('received: &lt;b&gt;x&lt;/b&gt;')
})

it('the standard dialect shows the same page when it cannot redirect to the app', async () => {
  const { text } = await client.call('GET', '/oauth2/authorize?response_type=code&scope=openid', html)
  expect(visibleText(text)).toContain('The app’s request was not accepted')
})

it.each(['/oauth/nothing', '/oauth2/nothing'])('%s, which does not exist, shows that', async (path) => {
  const answer = await client.call('GET', path, { ...html, 'accept-language': 'en' })
  expect([answer.status, visibleText(answer.text)]).toEqual([404, expect.stringContaining('Page not found')])
})

it.each([
  ['/sign-out', '/'],
  ['/sandbox/sign-out', '/sandbox'],
  ['/console/sign-out', '/console'],
])('opening %s directly redirects to the page with the form, without signing out', async (path, page) => {
  const answer = await client.call('GET', path, html)
  expect([answer.status, answer.headers.location, answer.headers['set-cookie']]).toEqual([303, page, undefined])
})

it.each([
  '/oauth/v2/consent',
  '/oauth2/consent',
  '/oauth2/logout/confirm',
  '/sandbox/members/invite',
  '/console/authenticator/confirm',
])('opening %s, which only accepts a form, shows that it cannot be opened directly', async (path) => {
  const answer = await client.call('GET', path, { ...html, 'accept-language': 'en' })
  expect([answer.status, answer.headers.allow]).toEqual([405, 'POST'])
  expect(visibleText(answer.text)).toContain('This page cannot be opened directly')
})
