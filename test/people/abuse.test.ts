import { readdirSync, readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Client } from '../acceptance/client.ts'
import { injectWire } from '../acceptance/http.ts'
import { openWorld, type World } from '../harness.ts'

/** Attacks on the account pages of a person. */

let world: World
let client: Client
beforeAll(async () => {
  world = await openWorld({ PASSWORD_RESET: 'mail', SMTP_URL: 'smtp://127.0.0.1:9' })
  client = new Client(injectWire(world.app), world.deps.config.PUBLIC_URL)
})
afterAll(() => world.close())

const signedIn = async ({ passport, password }: { passport: string; password: string }) => {
  const browser = client.newBrowser()
  await browser.send('POST', '/sign-in', { passport, password })
  return browser
}

/** The addresses of all forms of the account pages, found in the templates. */
const FORMS = [
  ...new Set(
    ['account', 'people']
      .flatMap((room) => readdirSync(`views/${room}`).map((name) => `views/${room}/${name}`))
      .concat('views/signed-in.eta')
      .flatMap((file) => {
        const text = readFileSync(file, 'utf8').replaceAll('<%= kind %>', 'mail')
        return [...text.matchAll(/action: '(\/[^']*)'|action="(\/[^"<]*)"/g)].map(
          ([, given, written]) => given ?? written,
        )
      }),
  ),
].map(String)

describe('a form of another site', () => {
  it('is tested at every address of our own forms', () => {
    expect(FORMS.length).toBeGreaterThan(20)
    expect(FORMS).toEqual(expect.arrayContaining(['/sign-in', '/sign-out', '/password', '/account/deletion']))
  })

  it.each(FORMS)('is refused at %s', async (path) => {
    const user = await client.makeUser()
    const browser = await signedIn(user)
    const before = JSON.stringify((await world.pool.query('select count(*) from audit_event')).rows)
    for (const site of ['cross-site', 'same-site']) {
      const headers = {
        cookie: browser.cookieHeader,
        'sec-fetch-site': site,
        origin: 'https://elsewhere.example',
        'content-type': 'application/x-www-form-urlencoded',
      }
      expect((await client.call('POST', path, headers, 'passport=x&password=y')).status, site).toBe(403)
    }
    expect(JSON.stringify((await world.pool.query('select count(*) from audit_event')).rows)).toBe(before)
    expect((await browser.send('GET', '/account')).status).toBe(200)
  })
})

describe('a person erased while signed in', () => {
  it('is signed out everywhere, and open forms change nothing', async () => {
    const user = await client.makeUser()
    const [one, other] = [await signedIn(user), await signedIn(user)]
    expect((await other.send('GET', '/account')).status).toBe(200)
    await client.admin('POST', '/users/erase', { cid: user.cid, user_id: user.user_id })
    for (const browser of [one, other])
      for (const path of ['/account', '/account/security', '/account/profile', '/account/data/person.json'])
        expect((await browser.send('GET', path)).headers.location, path).toMatch(/^\/sign-in\?/)
    for (const path of FORMS.filter((one) => one.startsWith('/account')))
      expect((await other.send('POST', path, {})).headers.location, path).toMatch(/^\/(sign-in|account)/)
    const { rows } = await world.pool.query('select from user_profile where user_id = $1', [user.user_id])
    expect(rows).toEqual([])
    expect((await signedIn(user)).cookies.has('gatehouse_session')).toBe(false)
  })
})
