import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createUser } from '../../src/authorization/account/user.ts'
import { openWorld, type World } from '../harness.ts'
import { SHARDS } from '../one-table.ts'
import { ALICE, FORM, form } from './people.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
  await createUser(world.deps, ALICE)
})
afterAll(() => world.close())
beforeEach(() => world.pool.query('delete from failed_attempt'))

const RIGHT = { passport: 'alice', password: 'alice-password', return_to: '/oauth/v2/authorize?x=1' }
const WRONG = { ...RIGHT, password: 'wrong-password' }

const post = (url: string, payload: string, headers: Record<string, string> = {}) =>
  world.app.inject({ method: 'POST', url, payload, headers: { ...FORM, ...headers } })
const signIn = (fields: Record<string, string>, headers: Record<string, string> = {}) =>
  post('/sign-in', form(fields), headers)

describe('GET /sign-in', () => {
  it('shows the form with its return_to', async () => {
    const { statusCode, body } = await world.app.inject('/sign-in?return_to=%2Foauth%2Fv2%2Fauthorize%3Fa%3D%22b%22')
    expect(statusCode).toBe(200)
    expect(body).toContain('name="return_to" value="/oauth/v2/authorize?a=%22b%22"')
    expect(body).toContain('name="passport"')
    expect(body).toContain('name="password"')
  })

  it('carries the notice of an ended session through the form', async () => {
    const { body } = await world.app.inject('/sign-in?ended=1')
    expect(body).toContain('name="ended" value="1"')
    const wrong = await signIn({ ...RIGHT, password: 'wrong', ended: '1' })
    expect(wrong.body).toContain('name="ended" value="1"')
  })

  it.each(['return_to=//evil.example', 'return_to=/a&return_to=/b', 'return_to=%ff', ''])(
    'falls back to / for the query "%s"',
    async (query) => {
      const { statusCode, body } = await world.app.inject(`/sign-in?${query}`)
      expect(statusCode).toBe(200)
      expect(body).toContain('name="return_to" value="/"')
    },
  )
})

describe('POST /sign-in', () => {
  it('sets a session cookie and redirects to return_to', async () => {
    const { statusCode, headers } = await signIn(RIGHT)
    expect(statusCode).toBe(303)
    expect(headers.location).toBe('/oauth/v2/authorize?x=1')
    expect(headers).toMatchObject({ 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' })
    expect(headers['set-cookie']).toEqual([
      expect.stringMatching(/^gatehouse_session=ghbs_[\w-]{48}; Max-Age=43200; Path=\/; HttpOnly; SameSite=Lax$/),
      expect.stringMatching(/^gatehouse_device=[\w.-]{46,}; Max-Age=15552000; Path=\/sign-in; HttpOnly; SameSite=Lax$/),
    ])
  })

  it('uses __Host- cookies under https, and accepts no other name', async () => {
    const secure = await openWorld({ PUBLIC_URL: 'https://gate.example' })
    await createUser(secure.deps, ALICE)
    const payload = form(RIGHT)
    const { headers } = await secure.app.inject({ method: 'POST', url: '/sign-in', payload, headers: FORM })
    const cookie = String(headers['set-cookie']).split(';')[0] ?? ''
    const home = (sent: string) => secure.app.inject({ url: '/account', headers: { cookie: sent } })
    const [own, planted] = [await home(cookie), await home(cookie.replace('__Host-', ''))]
    const out = await secure.app.inject({ method: 'POST', url: '/sign-out', headers: { ...FORM, cookie } })
    await secure.close()
    expect(headers['set-cookie']).toEqual([
      expect.stringMatching(
        /^__Host-gatehouse_session=ghbs_[\w-]{48}; Max-Age=43200; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
      ),
      expect.stringMatching(/^__Host-gatehouse_device=\S+; Max-Age=15552000; Path=\/; HttpOnly; Secure; SameSite=Lax$/),
    ])
    expect(own.body).toContain('Alice')
    expect(planted.body).not.toContain('Alice')
    expect(out.headers['set-cookie']).toMatch(
      /^__Host-gatehouse_session=; Max-Age=0; Path=\/; .*HttpOnly; Secure; SameSite=Lax$/,
    )
  })

  it('ends the previous session of the browser', async () => {
    const cookie = String((await signIn(RIGHT)).headers['set-cookie']).split(';')[0] ?? ''
    expect((await world.app.inject({ url: '/account', headers: { cookie } })).body).toContain('Alice')
    await signIn(RIGHT, { cookie })
    expect((await world.app.inject({ url: '/account', headers: { cookie } })).body).not.toContain('Alice')
  })

  it('tells a browser without cookies that they are needed, before checking the password', async () => {
    const page = await world.app.inject('/sign-in')
    expect(page.headers['set-cookie']).toMatch(/^gatehouse_cookie_set=1; Max-Age=\d+; Path=\/; HttpOnly; SameSite=Lax$/)
    expect(page.body).toContain('name="cookie_set" value="1"')
    const form = { ...RIGHT, cookie_set: '1' }
    for (const tried of [form, { ...form, password: 'wrong' }]) {
      const { statusCode, body, headers } = await signIn(tried, { 'accept-language': 'zh-CN' })
      expect([statusCode, body.includes('请允许本站使用 Cookie'), body.includes('value="alice"')]).toEqual([
        400,
        true,
        true,
      ])
      expect(String(headers['set-cookie'])).toMatch(/^gatehouse_cookie_set=1;[^,]*$/)
    }
    // Some in-app web views keep only one cookie: any cookie of ours will do, another site's will not.
    expect((await signIn(form, { cookie: 'gatehouse_lang=en' })).statusCode).toBe(303)
    expect((await signIn(form, { cookie: 'others=1' })).statusCode).toBe(400)
    const program = await signIn(WRONG)
    expect([program.statusCode, program.body.includes('cookie_set')]).toEqual([403, false])
  })

  it('gives the same answer for an unknown passport and a wrong password', async () => {
    const [wrong, unknown] = [await signIn(WRONG), await signIn({ ...WRONG, passport: 'alicf' })]
    expect(wrong.statusCode).toBe(403)
    expect(wrong.headers['set-cookie']).toBeUndefined()
    expect(wrong.body).toContain('role="alert"')
    expect(wrong.body).toContain('The username or the password is wrong.')
    expect(wrong.body).toContain('value="/oauth/v2/authorize?x=1"')
    expect(wrong.body).toContain('href="?return_to=%2Foauth%2Fv2%2Fauthorize%3Fx%3D1&amp;ui_locales=zh-CN"')
    expect(wrong.body).not.toContain('wrong-password')
    const withoutChallenge = (body: string) => body.replace(/data-options="[^"]*"/, '')
    expect(withoutChallenge(unknown.body).replace('alicf', 'alice')).toBe(withoutChallenge(wrong.body))
  })

  it('says when to try again', async () => {
    for (let failures = 0; failures < 5; failures++) await signIn(WRONG)
    world.clock.advance(200)
    const limited = await signIn(RIGHT)
    expect(limited.statusCode).toBe(429)
    expect(limited.headers['retry-after']).toBe('700')
    expect(limited.body).toContain('Please try again in 12 minutes.')
    const chinese = await signIn(RIGHT, { 'accept-language': 'zh' })
    expect(chinese.body).toContain('请在 12 分钟后重试')
  })

  it('still admits a known browser when a stranger in its network has used up the limit', async () => {
    const device = [(await signIn(RIGHT)).headers['set-cookie']]
      .flat()
      .find((line) => line?.startsWith('gatehouse_device'))
    const cookie = device?.split(';')[0] ?? ''
    for (let failures = 0; failures < 5; failures++) await signIn(WRONG)
    expect((await signIn(RIGHT)).statusCode).toBe(429)
    expect((await signIn(RIGHT, { cookie })).statusCode).toBe(303)
    expect((await world.app.inject({ url: '/account', headers: { cookie } })).body).not.toContain('Alice')
  })

  it.each([
    ['', 'nothing'],
    ['passport=alice', 'no password'],
    ['passport=alice&passport=bob&password=alice-password', 'a field twice'],
    ['passport=alice&password=alice-password&password=x', 'a field twice'],
    ['passport=al%00ice&password=x', 'NUL'],
    ['passport[]=alice&password=alice-password', 'brackets'],
    ['__proto__=x&passport=&password=%', 'broken'],
  ])('rejects %j as bad input', async (payload) => {
    const { statusCode, body } = await post('/sign-in', payload)
    expect(statusCode).toBe(400)
    expect(body).toContain('Enter your username and your password.')
  })

  it('shows an incomplete form again with the username', async () => {
    const { statusCode, body } = await post('/sign-in', form({ passport: 'lin', password: '' }))
    expect([statusCode, body]).toEqual([400, expect.stringContaining('name="passport" value="lin"')])
  })

  it('ignores a return_to that is repeated or leads to another site', async () => {
    const twice = await post('/sign-in', `${form(RIGHT)}&return_to=/b`)
    expect(twice.headers.location).toBe('/')
    expect((await signIn({ ...RIGHT, return_to: 'https://evil.example/' })).headers.location).toBe('/')
  })

  it('accepts at most 16 KiB, and forms only', async () => {
    const long = await signIn({ ...RIGHT, filler: 'x'.repeat(17_000) })
    expect(long.statusCode).toBe(400)
    expect(long.body).toContain('<strong>20007</strong>')
    const json = await post('/sign-in', JSON.stringify(RIGHT), { 'content-type': 'application/json' })
    expect(json.statusCode).toBe(400)
  })

  it('refuses forms from another site', async () => {
    for (const headers of [{ 'sec-fetch-site': 'cross-site' }, { 'sec-fetch-site': 'same-site' }]) {
      const { statusCode, body, headers: answered } = await signIn(RIGHT, headers)
      expect(statusCode).toBe(403)
      expect(body).toContain('This form was not accepted')
      expect(answered['set-cookie']).toBeUndefined()
    }
  })

  it('logs neither passport nor password', async () => {
    await signIn({ ...RIGHT, passport: 'canary-passport', password: 'canary-password' })
    expect(world.logged()).not.toMatch(/canary/)
    expect(world.logged()).toContain('wrong credentials')
  })
})

describe('POST /sign-out', () => {
  it('ends the session, clears the cookie and redirects to return_to', async () => {
    const cookie = String((await signIn(RIGHT)).headers['set-cookie']).split(';')[0] ?? ''
    const { statusCode, headers } = await post('/sign-out', form({ return_to: '/next' }), { cookie })
    expect(statusCode).toBe(303)
    expect(headers.location).toBe('/next')
    expect(headers['set-cookie']).toMatch(/^gatehouse_session=; Max-Age=0; Path=\/; .*HttpOnly; SameSite=Lax$/)
    expect((await world.app.inject({ url: '/account', headers: { cookie } })).body).not.toContain('Alice')
  })

  it('is harmless without a session, and refuses other sites', async () => {
    expect((await post('/sign-out', '')).statusCode).toBe(303)
    expect((await post('/sign-out', '', { 'sec-fetch-site': 'cross-site' })).statusCode).toBe(403)
  })
})

describe('without a database', () => {
  it.skipIf(SHARDS > 1)('answers 503, as a page for browsers', async () => {
    const down = await openWorld()
    await down.pool.end()
    const payload = form(RIGHT)
    const page = await down.app.inject({ method: 'POST', url: '/sign-in', payload, headers: FORM })
    const headers = { ...FORM, accept: '*/*' }
    const json = await down.app.inject({ method: 'POST', url: '/sign-in', payload, headers })
    await down.app.close()
    expect(page.statusCode).toBe(503)
    expect(page.headers['retry-after']).toBe('2')
    expect(page.body).toContain('Not available right now')
    expect(json.statusCode).toBe(503)
    expect(json.json()).toEqual({ rescode: 20013, data: { message: 'Server error' } })
  })
})
