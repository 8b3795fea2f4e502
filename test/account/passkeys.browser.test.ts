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
 * Second factors and passkeys in Chromium, with the policies of the pages in force; passkeys by Chromium's virtual
 * authenticator.
 */

const SCREENSHOTS = process.env.SCREENSHOTS
/** Those that the folder of pictures shows. */
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

const complaints: string[] = []
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
    if (message.type() === 'error') complaints.push(message.text())
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
  expect(complaints.splice(0).filter((text) => /content security policy/i.test(text))).toEqual([])
})

const shoot = async (name: string): Promise<void> => {
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

/** Adds a passkey as a person does. */
async function addPasskey(name = 'Laptop'): Promise<void> {
  await signIn(user)
  await page.fill('#passkey-name', name)
  await toNextPage(page, () => page.click('form[data-passkey] button'))
  await page.waitForSelector(`.passkey input[value="${name}"]`)
}

/** Goes to a page that leaves by itself, perhaps before it is all there: with the passkey which its field offers. */
const pass = (address: string) => page.goto(address, { waitUntil: 'commit' })

/** What the browser would send, held back. */
async function heldAnswer(): Promise<{ readonly body: string; readonly path: string }> {
  const sent = new Promise<{ body: string; path: string }>((resolve) => {
    void page.route('**/sign-in/passkey', async (route) => {
      resolve({ body: route.request().postData() ?? '', path: new URL(route.request().url()).pathname })
      await route.abort()
    })
  })
  await pass(`${origin}/sign-in`)
  const answer = await sent // offered by the field of the username, and taken at once
  await page.unroute('**/sign-in/passkey')
  return answer
}

const submit = (body: string, app = world.app) =>
  app.inject({ method: 'POST', url: '/sign-in/passkey', headers: FORM, payload: body })
const isSignedIn = async () => (await context.cookies(origin)).some(({ name }) => name.includes('session'))
const claimsOf = (token: string) => JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())

describe('a passkey', () => {
  it('is added, named, renamed and removed on the page about security', async () => {
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

  it('leads back, once it is added, to the page that has asked for a second factor', async () => {
    const asking = encodeURIComponent('/account/security/sign-in?return_to=/account/data?done=x')
    await signIn(user, `/sign-in?return_to=${asking}`)
    await toNextPage(page, () => page.click('form[data-passkey] button'))
    await page.getByText('The passkey is added').waitFor()
    const onward = page.locator('main a.button')
    expect(await onward.getAttribute('href')).toBe('/account/data?done=x')
    await toNextPage(page, () => onward.click())
    expect(new URL(page.url()).pathname).toBe('/account/data')
  })

  it('leads to the page about security where nothing has asked for it', async () => {
    await addPasskey()
    await toNextPage(page, () => page.click('p.back a'))
    expect(new URL(page.url()).pathname).toBe('/account/security')
  })

  it('signs in without a password, in one tap or none, and returns to the app with phr', async () => {
    await addPasskey()
    await context.clearCookies()
    const { verifier, challenge } = pkcePair()
    const pkce = { code_challenge: challenge, code_challenge_method: 'S256' }
    const request = rp.request({ ...pkce, redirect_uri: `${origin}/arrived`, acr_values: PHR, state: 'state1' })
    await pass(`${origin}/oauth2/authorize?${queryOf(request)}`)
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

  it('signs in by the button where the browser does not offer it in the field', async () => {
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

  it('suffices where an authenticator is demanded after a password', async () => {
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
    await pass(`${origin}/sign-in?return_to=%2Faccount%2Fsecurity%2Fsign-in`)
    await page.waitForURL('**/account/security/sign-in')
  })

  it('is not asked for where it is off, and what is sent then is not read', async () => {
    const deps = { ...world.deps, config: { ...world.deps.config, PASSKEYS: false } }
    const off = await buildApp({ deps, log: world.log, readiness: { draining: false } })
    const shown = await off.inject({ url: '/sign-in', headers: { accept: 'text/html' } })
    expect(shown.body).not.toContain('passkey')
    expect(shown.headers['content-security-policy']).not.toContain('connect-src')
    expect((await submit('credential=1', off)).statusCode).toBe(404)
    await off.close()
  })
})

describe('the steps of a sign-in, after its page is shown', () => {
  /** What a person does: taps and fields that are filled. */
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
  const begin = async (hint = '') => {
    await context.clearCookies()
    await page.goto(`${origin}/sign-in?return_to=%2Faccount${hint}`)
  }
  const arrive = () => page.waitForURL((url) => url.pathname === '/account')

  it('are one tap with a passkey, and no field', async () => {
    await addPasskey()
    await page.addInitScript(() => {
      Object.assign(window.PublicKeyCredential, { isConditionalMediationAvailable: async () => false })
    })
    await begin()
    await tap('form[data-passkey] button')
    await arrive()
    expect(counted).toEqual({ taps: 1, fields: 0 })
  })

  it('are two fields with an authenticator where the username is known, as from an app: password and code', async () => {
    await signIn(user)
    await toNextPage(page, () => page.click('form[action$="/authenticator"] button'))
    const secret = (await page.textContent('#secret')) ?? ''
    const show = () => new TOTP({ secret, period: 30 }).generate({ timestamp: world.clock.now().getTime() })
    await page.fill('#code', show())
    await toNextPage(page, () => page.click('form[action$="/confirm"] button'))
    await page.waitForSelector('.codes')
    for (const [hint, fields] of [
      [`&login_hint=${user.passport}`, 2],
      ['', 3],
    ] as const) {
      world.clock.advance(60)
      Object.assign(counted, { taps: 0, fields: 0 })
      await begin(hint)
      if (!hint) await type('#passport', user.passport)
      await type('#password', user.password)
      await toNextPage(page, () => tap('form[action="/sign-in"] button'))
      await page.waitForSelector('#code')
      expect(await page.evaluate(() => document.activeElement?.id)).toBe('code')
      await type('#code', show())
      await tap('form[action="/sign-in/code"] button')
      await arrive()
      expect(counted, hint).toEqual({ taps: 2, fields })
    }
  })
})

describe('an answer of a passkey', () => {
  beforeEach(async () => {
    await addPasskey()
    await context.clearCookies()
  })

  it('counts once, also of many at once, and is refused later', async () => {
    const { body } = await heldAnswer()
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
    const { body } = await heldAnswer()
    const deps = { ...world.deps, config: { ...world.deps.config, PUBLIC_URL } }
    const elsewhere = await buildApp({ deps, log: world.log, readiness: { draining: false } })
    expect((await submit(body, elsewhere)).statusCode).toBe(403)
    await elsewhere.close()
    expect((await submit(body)).statusCode).toBe(303) // the answer itself was in order
  })

  it('is told when to try again where the person has signed in too often', async () => {
    const { body } = await heldAnswer()
    const person = { cid: user.cid, userId: user.user_id }
    for (let n = 0; n < 599; n++) await startSession(world.deps, person, { address: '192.0.2.1' })
    const answer = await submit(body)
    expect([answer.statusCode, Number(answer.headers['retry-after']) > 0]).toEqual([429, true])
  })

  it('is refused with a counter that is not above the last one: a copied key', async () => {
    const { body } = await heldAnswer()
    await world.pool.query('update passkey set counter = 1000 where user_id = $1', [user.user_id])
    expect((await submit(body)).statusCode).toBe(403)
    expect(await isSignedIn()).toBe(false)
  })

  it('is refused after an hour, after the passkey was removed, altered, and as nonsense', async () => {
    const { body } = await heldAnswer()
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
    const fresh = await heldAnswer()
    await world.pool.query('delete from passkey where user_id = $1', [user.user_id])
    expect((await submit(fresh.body)).statusCode).toBe(403)
  })

  it('of somebody else changes nothing of theirs: names and removals are by one’s own id', async () => {
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
  it.each(LOOKS)('fit and are accessible: $size, $locale', async (look) => {
    const made = await openContext(await sharedBrowser(), look)
    page = await made.newPage()
    const checked = async (name: string) => {
      expect(await violations(page), name).toEqual([])
      expect(await fits(page), name).toBe(true)
      if (PICTURED.has(name)) await shoot(`account-${name}-${look.size}-${look.locale}`)
    }
    await page.goto(`${origin}/sign-in?return_to=%2Faccount%2Fsecurity%2Fsign-in`)
    await checked('sign-in')
    await signIn(user)
    await page.waitForSelector('form[action$="/authenticator"]')
    await checked('security')
    await toNextPage(page, () => page.click('form[action$="/authenticator"] button'))
    const secret = (await page.textContent('#secret')) ?? ''
    await checked('authenticator')
    const show = () => new TOTP({ secret, period: 30 }).generate({ timestamp: world.clock.now().getTime() })
    await page.fill('#code', show())
    await toNextPage(page, () => page.keyboard.press('Enter'))
    await page.waitForSelector('.codes')
    await checked('recovery-codes')
    world.clock.advance(60)
    await made.clearCookies()
    await signIn(user)
    await page.waitForSelector('#code')
    await checked('second-step')
    await page.keyboard.type(show()) // it has the focus
    await page.keyboard.press('Enter')
    await page.waitForURL('**/account/security/sign-in')
    await checked('security-protected')
  })
})
