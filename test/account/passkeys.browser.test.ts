import { TOTP } from 'otpauth'
import type { BrowserContext, CDPSession, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { buildApp } from '../../src/app.ts'
import { startSession } from '../../src/authorization/account/session.ts'
import { Client, pkcePair, type User } from '../acceptance/client.ts'
import { injectWire, queryOf } from '../acceptance/http.ts'
import { violations } from '../axe.ts'
import { sharedBrowser, toNextPage } from '../browser.ts'
import { freePort } from '../free-port.ts'
import { openWorld, type World } from '../harness.ts'
import { StandardApp, tokensOf } from '../oidc/app.ts'
import { fits, LOOKS, visit as openContext } from '../sandbox/browse.ts'
import { FORM } from './people.ts'

/**
 * Second factors and passkeys in Chromium, with the pages' Content-Security-Policy in force; passkeys come from
 * Chromium's virtual authenticator.
 */

const SCREENSHOTS = process.env.SCREENSHOTS
/** The pages whose screenshots are kept. */
const PICTURED = new Set(['second-step', 'security-protected'])
const PHR = 'phr'

let world: World
let origin: string
let client: Client
let rp: StandardApp
beforeAll(async () => {
  const port = await freePort()
  origin = `http://localhost:${port}`
  world = await openWorld({ PUBLIC_URL: origin, AUTHORIZE_PER_MINUTE: '1000000' })
  client = new Client(injectWire(world.app), origin)
  rp = await StandardApp.make(client, { redirect_uris: [`${origin}/arrived`] })
  await world.app.listen({ host: '127.0.0.1', port })
})
afterAll(() => world.close())

const consoleErrors: string[] = []
let context: BrowserContext
let page: Page
let device: CDPSession
let authenticatorId: string
let user: User
beforeEach(async () => {
  await world.pool.query('delete from failed_attempt')
  user = await client.makeUser()
  context = await (await sharedBrowser()).newContext({ locale: 'en' })
  page = await context.newPage()
  page.on('console', (message) => {
    if (message.type() === 'error') consoleErrors.push(message.text())
  })
  device = await context.newCDPSession(page)
  await device.send('WebAuthn.enable')
  const options = {
    protocol: 'ctap2',
    transport: 'internal',
    hasResidentKey: true,
    hasUserVerification: true,
    isUserVerified: true,
    automaticPresenceSimulation: true,
  } as const
  authenticatorId = (await device.send('WebAuthn.addVirtualAuthenticator', { options })).authenticatorId
})
afterEach(async () => {
  for (const one of (await sharedBrowser()).contexts()) await one.close()
  expect(consoleErrors.splice(0).filter((text) => /content security policy/i.test(text))).toEqual([])
})

const screenshot = async (name: string): Promise<void> => {
  if (SCREENSHOTS) await page.screenshot({ path: `${SCREENSHOTS}/${name}.png`, fullPage: true })
}

async function signIn(
  { passport, password }: User,
  path = '/sign-in?return_to=%2Faccount%2Fsecurity%2Fsign-in',
): Promise<void> {
  await page.goto(origin + path)
  await page.fill('#passport', passport)
  await page.fill('#password', password)
  await toNextPage(page, () => page.click('form[action="/sign-in"] button'))
}

/** Adds a passkey through the page. */
async function addPasskey(name = 'Laptop'): Promise<void> {
  await signIn(user)
  await page.fill('#passkey-name', name)
  await toNextPage(page, () => page.click('form[data-passkey] button'))
  await page.waitForSelector(`.passkey input[value="${name}"]`)
}

/** Opens a page that signs in by itself with the passkey its field offers, perhaps before it has loaded. */
const gotoAutofill = (address: string) => page.goto(address, { waitUntil: 'commit' })

/** Intercepts the assertion that the browser would send. */
async function interceptedAssertion(): Promise<{ readonly body: string; readonly path: string }> {
  const sent = new Promise<{ body: string; path: string }>((resolve) => {
    void page.route('**/sign-in/passkey', async (route) => {
      resolve({ body: route.request().postData() ?? '', path: new URL(route.request().url()).pathname })
      await route.abort()
    })
  })
  await gotoAutofill(`${origin}/sign-in`)
  const answer = await sent // the passport field offers the passkey and the virtual authenticator accepts at once
  await page.unroute('**/sign-in/passkey')
  return answer
}

const submit = (body: string, app = world.app) =>
  app.inject({ method: 'POST', url: '/sign-in/passkey', headers: FORM, payload: body })
const isSignedIn = async () => (await context.cookies(origin)).some(({ name }) => name.includes('session'))
const claimsOf = (token: string) => JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())

describe('a passkey', () => {
  it('is added, named, renamed and removed on the security page', async () => {
    await addPasskey()
    expect((await device.send('WebAuthn.getCredentials', { authenticatorId })).credentials).toMatchObject([
      { isResidentCredential: true, rpId: 'localhost' },
    ])
    await page.fill('.passkey input[name=name]', 'Phone, blue')
    await toNextPage(page, () => page.click('form[action$="/rename"] button'))
    await page.waitForSelector('.passkey input[value="Phone, blue"]')
    const labels = await page.locator('section:has(.passkey) label').allTextContents()
    expect(labels).toEqual(['Name of the passkey', 'Name of the new passkey'])
    expect(await violations(page)).toEqual([])
    await page.getByText('has its new name').waitFor()
    await page.click('.passkey summary')
    await toNextPage(page, () => page.click('form[action$="/remove"] button'))
    await page.getByText('The passkey is removed').waitFor()
    expect(await page.locator('.passkey').count()).toBe(0)
    const { rows } = await world.pool.query(`select event from audit_event where user_id = $1`, [user.user_id])
    const events = rows.map(({ event }) => event)
    expect(events).toEqual(expect.arrayContaining(['user_passkey_added', 'user_passkey_removed']))
  })

  it('is explained where the browser knows none, such as inside an app', async () => {
    await context.addInitScript('delete window.PublicKeyCredential')
    await signIn(user)
    await page.getByText('Passkeys need JavaScript and a browser that knows them.').waitFor()
    expect(await page.isVisible('form[data-passkey]')).toBe(false)
  })

  it('once added leads back to the page that required a second factor', async () => {
    const asking = encodeURIComponent('/account/security/sign-in?return_to=/account/data?done=x')
    await signIn(user, `/sign-in?return_to=${asking}`)
    await toNextPage(page, () => page.click('form[data-passkey] button'))
    await page.getByText('The passkey is added').waitFor()
    const onward = page.locator('main a.button')
    expect(await onward.getAttribute('href')).toBe('/account/data?done=x')
    await toNextPage(page, () => onward.click())
    expect(new URL(page.url()).pathname).toBe('/account/data')
  })

  it('once added leads to the security page if no other page required it', async () => {
    await addPasskey()
    await toNextPage(page, () => page.click('p.back a'))
    expect(new URL(page.url()).pathname).toBe('/account/security')
  })

  it('signs in without a password, in at most one tap, and returns to the app with the acr phr', async () => {
    await addPasskey()
    await context.clearCookies()
    const { verifier, challenge } = pkcePair()
    const pkce = { code_challenge: challenge, code_challenge_method: 'S256' }
    const request = rp.request({ ...pkce, redirect_uri: `${origin}/arrived`, acr_values: PHR, state: 'state1' })
    await gotoAutofill(`${origin}/oauth2/authorize?${queryOf(request)}`)
    await page.waitForSelector('button[value=approve]')
    await page.click('button[value=approve]')
    await page.waitForURL('**/arrived?**')
    const { searchParams } = new URL(page.url())
    expect(searchParams.get('state')).toBe('state1')
    const answer = await rp.exchange(
      { code: searchParams.get('code') ?? '', verifier },
      { redirect_uri: `${origin}/arrived` },
    )
    expect(claimsOf(tokensOf(answer).id_token)).toMatchObject({ acr: PHR, amr: ['pop', 'mfa'] })
  })

  it('signs in through the button if the browser does not offer it in the field', async () => {
    await addPasskey()
    await context.clearCookies()
    await page.addInitScript(() => {
      Object.assign(window.PublicKeyCredential, { isConditionalMediationAvailable: async () => false })
    })
    await page.goto(`${origin}/sign-in?return_to=%2Faccount%2Fsecurity%2Fsign-in`)
    expect(await page.getAttribute('#passport', 'autocomplete')).toBe('username webauthn')
    await page.click('form[data-passkey] button')
    await page.waitForURL('**/account/security/sign-in')
  })

  it('signs in alone even if a password would need the authenticator as well', async () => {
    await addPasskey()
    await toNextPage(page, () => page.click('form[action$="/authenticator"] button'))
    const secret = (await page.textContent('#secret')) ?? ''
    const code = new TOTP({ secret, period: 30 }).generate({
      timestamp: world.clock.now().getTime(),
    })
    await page.fill('#code', code)
    await toNextPage(page, () => page.click('form[action$="/confirm"] button'))
    await page.waitForSelector('.codes')
    await context.clearCookies()
    await gotoAutofill(`${origin}/sign-in?return_to=%2Faccount%2Fsecurity%2Fsign-in`)
    await page.waitForURL('**/account/security/sign-in')
  })

  it('is neither offered nor accepted when PASSKEYS is off', async () => {
    const deps = { ...world.deps, config: { ...world.deps.config, PASSKEYS: false } }
    const off = await buildApp({ deps, log: world.log, readiness: { draining: false } })
    const shown = await off.inject({ url: '/sign-in', headers: { accept: 'text/html' } })
    expect(shown.body).not.toContain('passkey')
    expect(shown.headers['content-security-policy']).not.toContain('connect-src')
    expect((await submit('credential=1', off)).statusCode).toBe(404)
    await off.close()
  })
})

describe('the steps of a sign-in once its page is shown', () => {
  const counted = { taps: 0, fields: 0 }
  const tap = async (selector: string) => {
    counted.taps++
    await page.click(selector)
  }
  const type = async (selector: string, text: string) => {
    counted.fields++
    await page.fill(selector, text)
  }
  beforeEach(() => Object.assign(counted, { taps: 0, fields: 0 }))
  const openSignIn = async (hint = '') => {
    await context.clearCookies()
    await page.goto(`${origin}/sign-in?return_to=%2Faccount${hint}`)
  }
  const arrived = () => page.waitForURL((url) => url.pathname === '/account')

  it('are one tap with a passkey, and no field', async () => {
    await addPasskey()
    await page.addInitScript(() => {
      Object.assign(window.PublicKeyCredential, { isConditionalMediationAvailable: async () => false })
    })
    await openSignIn()
    await tap('form[data-passkey] button')
    await arrived()
    expect(counted).toEqual({ taps: 1, fields: 0 })
  })

  it('with an authenticator are two fields, password and code, if the app has given the username', async () => {
    await signIn(user)
    await toNextPage(page, () => page.click('form[action$="/authenticator"] button'))
    const secret = (await page.textContent('#secret')) ?? ''
    const currentCode = () => new TOTP({ secret, period: 30 }).generate({ timestamp: world.clock.now().getTime() })
    await page.fill('#code', currentCode())
    await toNextPage(page, () => page.click('form[action$="/confirm"] button'))
    await page.waitForSelector('.codes')
    for (const [hint, fields] of [
      [`&login_hint=${user.passport}`, 2],
      ['', 3],
    ] as const) {
      world.clock.advance(60)
      Object.assign(counted, { taps: 0, fields: 0 })
      await openSignIn(hint)
      if (!hint) await type('#passport', user.passport)
      await type('#password', user.password)
      await toNextPage(page, () => tap('form[action="/sign-in"] button'))
      await page.waitForSelector('#code')
      expect(await page.evaluate(() => document.activeElement?.id)).toBe('code')
      await type('#code', currentCode())
      await tap('form[action="/sign-in/code"] button')
      await arrived()
      expect(counted, hint).toEqual({ taps: 2, fields })
    }
  })
})

describe('a passkey assertion', () => {
  beforeEach(async () => {
    await addPasskey()
    await context.clearCookies()
  })

  it('is accepted once, even among concurrent copies, and refused later', async () => {
    const { body } = await interceptedAssertion()
    const all = await Promise.all(Array.from({ length: 6 }, () => submit(body)))
    expect(all.map(({ statusCode }) => statusCode).sort()).toEqual([303, 403, 403, 403, 403, 403])
    expect((await submit(body)).statusCode).toBe(403)
    const { rows } = await world.pool.query(
      `select distinct detail->>'problem' as problem from audit_event where user_id = $1 and event = 'user_sign_in_failed'`,
      [user.user_id],
    )
    expect(rows).toEqual([{ problem: 'used before, or a copy' }])
  })

  it.each([
    ['another origin of the same host', 'http://localhost:1'],
    ['another host, so a foreign RP id', 'https://gate.example'],
  ])('is refused by a service at %s', async (_, PUBLIC_URL) => {
    const { body } = await interceptedAssertion()
    const deps = { ...world.deps, config: { ...world.deps.config, PUBLIC_URL } }
    const elsewhere = await buildApp({ deps, log: world.log, readiness: { draining: false } })
    expect((await submit(body, elsewhere)).statusCode).toBe(403)
    await elsewhere.close()
    expect((await submit(body)).statusCode).toBe(303) // the assertion itself was valid
  })

  it('is answered with the time to wait if the person has signed in too often', async () => {
    const { body } = await interceptedAssertion()
    const person = { cid: user.cid, userId: user.user_id }
    for (let n = 0; n < 599; n++) await startSession(world.deps, person, { address: '192.0.2.1' })
    const answer = await submit(body)
    expect([answer.statusCode, Number(answer.headers['retry-after']) > 0]).toEqual([429, true])
  })

  it('is refused if its counter is not above the last one, as for a cloned key', async () => {
    const { body } = await interceptedAssertion()
    await world.pool.query('update passkey set counter = 1000 where user_id = $1', [user.user_id])
    expect((await submit(body)).statusCode).toBe(403)
    expect(await isSignedIn()).toBe(false)
  })

  it('is refused if altered, malformed, an hour old, or of a removed passkey', async () => {
    const { body } = await interceptedAssertion()
    const fields = new URLSearchParams(body)
    const credential = JSON.parse(fields.get('credential') ?? '')
    const altered = (response: object) => {
      const text = JSON.stringify({ ...credential, response: { ...credential.response, ...response } })
      return submit(String(new URLSearchParams({ credential: text })))
    }
    const { signature, authenticatorData } = credential.response
    const data = Buffer.from(authenticatorData, 'base64url')
    data[32] = (data[32] ?? 0) & ~4 // without user verification
    for (const change of [
      { userHandle: 'AAAA' },
      { signature: `AA${signature.slice(2)}` },
      { authenticatorData: data.toString('base64url') },
      { clientDataJSON: Buffer.from('{}').toString('base64url') },
    ]) {
      expect((await altered(change)).statusCode, JSON.stringify(change)).toBe(403)
    }
    for (const nonsense of ['', 'credential=', 'credential=%7B%7D', 'credential=x', 'credential=1&credential=2'])
      expect((await submit(nonsense)).statusCode, nonsense).toBe(403)
    world.clock.advance(3_600)
    expect((await submit(body)).statusCode).toBe(403)
    const fresh = await interceptedAssertion()
    await world.pool.query('delete from passkey where user_id = $1', [user.user_id])
    expect((await submit(fresh.body)).statusCode).toBe(403)
  })

  it('aside, nobody can rename or remove the passkey of somebody else', async () => {
    const { rows } = await world.pool.query('select passkey_id from passkey where user_id = $1', [user.user_id])
    const stranger = await client.makeUser()
    const browser = client.newBrowser()
    await browser.send('POST', '/sign-in', { passport: stranger.passport, password: stranger.password })
    const passkey_id = rows[0].passkey_id
    await browser.send('POST', '/account/security/passkeys/remove', { passkey_id })
    await browser.send('POST', '/account/security/passkeys/rename', { passkey_id, name: 'mine now' })
    const after = await world.pool.query('select name from passkey where user_id = $1', [user.user_id])
    expect(after.rows).toEqual([{ name: 'Laptop' }])
  })
})

describe('the pages', () => {
  it.each(LOOKS)('fit the screen and are accessible: $size, $locale', async (look) => {
    const made = await openContext(await sharedBrowser(), look)
    page = await made.newPage()
    const checked = async (name: string) => {
      expect(await violations(page), name).toEqual([])
      expect(await fits(page), name).toBe(true)
      if (PICTURED.has(name)) await screenshot(`account-${name}-${look.size}-${look.locale}`)
    }
    await page.goto(`${origin}/sign-in?return_to=%2Faccount%2Fsecurity%2Fsign-in`)
    await checked('sign-in')
    await signIn(user)
    await page.waitForSelector('form[action$="/authenticator"]')
    await checked('security')
    await toNextPage(page, () => page.click('form[action$="/authenticator"] button'))
    const secret = (await page.textContent('#secret')) ?? ''
    await checked('authenticator')
    const currentCode = () => new TOTP({ secret, period: 30 }).generate({ timestamp: world.clock.now().getTime() })
    await page.fill('#code', currentCode())
    await toNextPage(page, () => page.keyboard.press('Enter'))
    await page.waitForSelector('.codes')
    await checked('recovery-codes')
    world.clock.advance(60)
    await made.clearCookies()
    await signIn(user)
    await page.waitForSelector('#code')
    await checked('second-step')
    await page.keyboard.type(currentCode()) // the code field has the focus
    await page.keyboard.press('Enter')
    await page.waitForURL('**/account/security/sign-in')
    await checked('security-protected')
  })
})
