import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Browser } from '../acceptance/browser.ts'
import { Client } from '../acceptance/client.ts'
import { type Form, formsOf, visibleText } from '../acceptance/form.ts'
import { header, injectWire } from '../acceptance/http.ts'
import { openWorld, type World } from '../harness.ts'

/** Two people use one browser in turn: pages that the first has left open do not affect the second. */

let world: World
let client: Client
beforeAll(async () => {
  world = await openWorld()
  client = new Client(injectWire(world.app), world.deps.config.PUBLIC_URL)
})
afterAll(() => world?.close())

const PAGES = [
  '/account',
  '/account/profile',
  '/account/security',
  '/account/data',
  '/account/security/sign-in',
  '/password',
  '/developer',
]

async function signedIn(browser: Browser, name: string) {
  const user = await client.makeUser({ name })
  await browser.send('POST', '/sign-in', { passport: user.passport, password: user.password })
  return user
}

const UPLOAD = '/account/profile/picture'

/** All forms except sign-out. */
async function formsIn(browser: Browser, paths: readonly string[]): Promise<Form[]> {
  const pages = await Promise.all(paths.map((path) => browser.open(path)))
  const forms = pages.flatMap(({ text }) => formsOf(text))
  return forms.filter(({ method, action }) => method === 'POST' && action !== '/sign-out')
}

const upload = (browser: Browser, { action, fields }: Form) => {
  const parts = [
    `name="form_of"\r\n\r\n${fields.form_of}`,
    'name="picture"; filename="p.png"\r\nContent-Type: image/png\r\n\r\nnone',
  ]
  const body = `${parts.map((part) => `--B\r\nContent-Disposition: form-data; ${part}\r\n`).join('')}--B--\r\n`
  const headers = { cookie: browser.cookieHeader, 'sec-fetch-site': 'same-origin', accept: 'text/html' }
  return client.call('POST', action, { ...headers, 'content-type': 'multipart/form-data; boundary=B' }, body)
}

it('every account form works only for the person it was shown to', async () => {
  const browser = client.newBrowser()
  const app = await client.makeApp()
  const first = await signedIn(browser, 'First')
  await client.getTokens(browser, app)
  await browser.send('POST', '/developer/terms', {})
  const { text } = await browser.open('/developer')
  const [team = ''] = /\/developer\/teams\/[0-9a-f-]{36}/.exec(text) ?? []
  const forms = await formsIn(browser, [...PAGES, team, `${team}/apps/new`])
  const actions = forms.map(({ action }) => action)
  for (const known of [
    '/account/deletion',
    '/account/profile',
    UPLOAD,
    '/password',
    '/developer/teams',
    `${team}/name`,
  ])
    expect(actions).toContain(known)
  const second = await signedIn(browser, 'Second')
  await browser.send('POST', '/developer/terms', {})
  for (const form of forms) {
    const answer = form.action === UPLOAD ? await upload(browser, form) : await browser.submit(form, {})
    const said = visibleText(answer.text)
    expect([form.action, answer.status, said]).toEqual([form.action, 400, expect.stringContaining('another account')])
  }
  const people = [first.user_id, second.user_id]
  const { rows } = await world.pool.query('select name from user_profile where user_id = any ($1) order by name', [
    people,
  ])
  expect(rows).toEqual([{ name: 'First' }, { name: 'Second' }])
  expect((await world.pool.query('select from deletion_request')).rowCount).toBe(0)
})

it('the upload form works for the person it was shown to', async () => {
  const browser = client.newBrowser()
  await signedIn(browser, 'Uploading')
  const form = (await formsIn(browser, ['/account/profile'])).find(({ action }) => action === UPLOAD)
  if (!form) throw new Error('no form')
  expect(header(await upload(browser, form), 'location')).toBe('/account/profile?refused=unfit')
})

it('the same person can still use an open page after signing in again', async () => {
  const browser = client.newBrowser()
  const user = await signedIn(browser, 'Same')
  const [form] = (await formsIn(browser, ['/account/profile'])).filter(({ action }) => action === '/account/profile')
  if (!form) throw new Error('no form')
  await browser.send('POST', '/sign-in', { passport: user.passport, password: user.password })
  const answer = await browser.submit(form, { name: 'Same as ever' })
  expect(header(answer, 'location')).toBe('/account/profile?done=saved')
})
