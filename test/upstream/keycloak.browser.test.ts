import type { BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { Client, pkcePair } from '../acceptance/client.ts'
import { injectWire } from '../acceptance/http.ts'
import { sharedBrowser, toNextPage } from '../browser.ts'
import { openWorld, type World } from '../harness.ts'
import { StandardApp } from '../oidc/app.ts'

/**
 * Sign-in at a Keycloak, if one is available: `KEYCLOAK_URL=http://127.0.0.1:8080 npm test -- test/upstream/keycloak`. It
 * needs the realm of keycloak-realm.json: `kc.sh start-dev --http-host 127.0.0.1 --import-realm` with that file in
 * `data/import`.
 */

const { KEYCLOAK_URL } = process.env
const HOME = 'http://localhost:18500'
const APP = `${HOME}/connect`

let world: World
let rp: StandardApp
let context: BrowserContext

describe.skipIf(KEYCLOAK_URL === undefined)('a Keycloak', () => {
  beforeAll(async () => {
    world = await openWorld({
      PUBLIC_URL: HOME,
      UPSTREAM_ISSUER: `${KEYCLOAK_URL}/realms/people`,
      UPSTREAM_CLIENT_ID: 'gatehouse',
      UPSTREAM_CLIENT_SECRET: 'keycloak-secret-of-gatehouse',
      UPSTREAM_CID: 'cid',
      UPSTREAM_SCOPE: 'openid profile',
    })
    await world.app.listen({ host: 'localhost', port: 18_500 })
    rp = await StandardApp.make(new Client(injectWire(world.app), HOME), { redirect_uris: [APP] })
  })
  afterAll(() => world?.close())
  afterEach(() => context?.close())

  const syncClock = () => world.clock.advance((Date.now() - world.clock.now().getTime()) / 1000)

  async function openTab(): Promise<Page> {
    syncClock()
    context = await (await sharedBrowser()).newContext({ locale: 'en' })
    const page = await context.newPage()
    return page
  }

  async function signInThere(page: Page): Promise<void> {
    await page.waitForURL(/\/realms\/people\//)
    const user = page.locator('#username')
    if (await user.isVisible()) await user.fill('petra') // hidden when Keycloak asks the same person again
    await page.fill('#password', 'petra-password')
    await toNextPage(page, () => page.click('#kc-login'))
    expect(new URL(page.url()).origin).toBe(HOME)
  }

  it('signs a person in, by name, and signs them out there too', async () => {
    const page = await openTab()
    await page.goto(`${HOME}/account`)
    await signInThere(page)
    expect(page.url()).toBe(`${HOME}/account`)
    const { rows } = await world.pool.query(
      'select cid, name, passport from user_profile join user_credential using (cid, user_id)',
    )
    expect(rows).toEqual([{ cid: 12, name: 'Petra Keycloak', passport: 'petra' }])
    await page.click('.signed-in button')
    await page.waitForURL(`${HOME}/`) // the id_token_hint spares Keycloak's confirmation page
    await page.goto(`${HOME}/account`)
    await page.locator('#username').waitFor()
  })

  it('admits a person with a session there, and asks again for prompt=login and max_age', async () => {
    const page = await openTab()
    await page.goto(`${HOME}/account`)
    await signInThere(page)
    await context.clearCookies({ name: 'gatehouse_session' })
    await page.goto(`${HOME}/account`)
    expect(page.url()).toBe(`${HOME}/account`)
    const { challenge } = pkcePair()
    const pkce = { redirect_uri: APP, code_challenge: challenge, code_challenge_method: 'S256' }
    for (const changes of [{ prompt: 'login' }, { max_age: '0' }, { prompt: 'select_account' }]) {
      syncClock()
      await page.goto(HOME + rp.authorizeUrl({ ...pkce, ...changes }))
      await signInThere(page)
      const allow = page.locator('button[value=approve]')
      if (await allow.isVisible()) await allow.click()
      await page.waitForURL((url) => url.pathname === '/connect')
      expect(new URL(page.url()).searchParams.get('code')).toMatch(/^ghac_/)
    }
  })
})
