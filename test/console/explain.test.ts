import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, Client, type User } from '../acceptance/client.ts'
import { header, injectWire } from '../acceptance/http.ts'
import { openWorld, type World } from '../harness.ts'
import { until } from '../until.ts'
import { type Person, signedIn } from './person.ts'

/** The search box and the page of a request show the same as `gatehouse explain`. */

let world: World
let client: Client
let app: App
let user: User
let viewer: Person
let support: Person
let refusedId: string
beforeAll(async () => {
  world = await openWorld()
  client = new Client(injectWire(world.app), world.deps.config.PUBLIC_URL)
  app = await client.makeApp({})
  user = await client.makeUser()
  viewer = (await signedIn(world, 'viewer')).person
  support = (await signedIn(world, 'support')).person
  const consented = await client.getCode(await client.signedIn(user, app), app)
  world.clock.advance(301)
  refusedId = header(await client.exchange(app, consented), 'x-request-id')
  await until(async () => (await world.pool.query('select 1 from refused_request')).rows.length === 1)
})
afterAll(() => world.close())

const search = (who: Person, query: string) => who.get(`/console/search?${new URLSearchParams({ q: query })}`)
const one = async (query: string) => (await world.pool.query(query)).rows[0]

describe('a request', () => {
  it('is found by its id, and its page shows the endpoint, the failure and the failed check', async () => {
    expect((await search(viewer, refusedId)).location).toBe(`/console/requests/${refusedId}`)
    const { text } = await viewer.get(`/console/requests/${refusedId}`)
    expect(text).toContain('POST A2')
    expect(text).toContain('code_expired (A2, check 10')
    expect(text).toContain('code unknown, used, expired, or another app')
    expect(text).toContain(`href="/console/apps/${app.app_key}"`)
    expect(text).not.toContain(app.app_secret)
  })

  it('shows received and registered values side by side, in the language of the page', async () => {
    const browser = await client.signedIn(user, app)
    const page = await browser.open(
      client.authorizePath({ ...client.request(app), redirect_uri: 'https://elsewhere.example/cb' }),
    )
    const id = header(page, 'x-request-id')
    await until(async () => (await viewer.get(`/console/requests/${id}`)).status === 200)
    await client.getCode(browser, app)
    const { text } = await viewer.get(`/console/requests/${id}`)
    expect(text).toContain('User consented')
    expect(text).not.toContain('Nothing matches the filter')
    expect(text).toMatch(/Received: redirect_uri<\/dt><dd><code>https:\/\/elsewhere\.example\/cb</)
    expect(text).toMatch(/Registered: hosts<\/dt><dd><code>/)
    const zh = await viewer.get(`/console/requests/${id}?ui_locales=zh-CN`)
    expect(zh.text).toContain('A1 的第 7 项检查：redirect_uri 未登记')
    expect(zh.text).not.toContain('user_consented')
  })

  it('that only the audit log knows has a page too, linked from there', async () => {
    const { request_id } = await one("select request_id from audit_event where event = 'app_created' limit 1")
    const { text } = await viewer.get(`/console/requests/${request_id}`)
    expect(text).toContain('Only the audit log has records of this request')
    expect(text).toContain('App created')
    const listed = (await viewer.get('/console/audit?action=app_created')).text
    expect(listed).toContain(`href="/console/requests/${request_id}"`)
    expect(listed).toContain('href="/console/audit?action=app_created"')
  })

  it('that is unknown gets 404', async () => {
    expect((await viewer.get(`/console/requests/${randomUUID()}`)).status).toBe(404)
    expect((await viewer.get('/console/requests/nonsense')).status).toBe(400)
  })
})

describe('the search', () => {
  it('shows support the latest rejected requests of an app, each with a link', async () => {
    const { text } = await search(support, app.app_key)
    expect(text).toContain(`Latest refused requests of ${app.app_key}`)
    expect(text).toContain(`href="/console/requests/${refusedId}"`)
    expect((await search(viewer, app.app_key)).location).toBe(`/console/apps/${app.app_key}`)
  })

  it('redirects straight to a person without rejected requests', async () => {
    const { passport } = await client.makeUser()
    expect((await search(support, passport)).location).toContain('/console/users/user?')
  })

  it('finds a token by its prefix and a person by phone number, but only for support', async () => {
    const { token } = await one('select token from refused_request limit 1')
    const found = await search(support, token)
    expect(found.text).toContain('authorization code')
    expect(found.text).toContain(`href="/console/requests/${refusedId}"`)
    expect((await search(viewer, token)).text).toContain('Nothing was found')
    const { phone_number, cid, user_id } = await one('select phone_number, cid, user_id from user_profile limit 1')
    const page = new URLSearchParams({ cid: String(cid), user_id })
    expect((await search(support, phone_number)).text).toContain(`/console/users/user?${page}`.replace('&', '&amp;'))
    expect((await search(viewer, phone_number)).text).toContain('Nothing was found')
  })
})
