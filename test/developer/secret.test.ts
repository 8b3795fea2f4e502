import { TOTP } from 'otpauth'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Client, dataOf } from '../acceptance/client.ts'
import { visibleText } from '../acceptance/form.ts'
import { type Answer, header } from '../acceptance/http.ts'
import { openWorld, type World } from '../harness.ts'
import {
  clientOf,
  type Developer,
  founder,
  joined,
  registered,
  secretIn,
  tester,
  withAuthenticator,
} from '../teams/people.ts'

/** The secret of an app, which only owners with a second factor can make. */

let world: World
let client: Client
let owner: Developer & { team: string }
let appKey: string
let path: string
beforeAll(async () => {
  world = await openWorld({ CODE_DUPLICATE_WINDOW_S: '0' })
  client = clientOf(world)
  owner = await founder(world)
  appKey = await registered(owner)
  path = `/developer/apps/${appKey}/secret`
})
afterAll(() => world?.close())

const seen = (answer: Answer) => visibleText(answer.text).replace(/\s+/g, ' ')
/** What the page offers to copy. */
const copied = ({ text }: Answer) => [...text.matchAll(/<pre[^>]* data-copy=[^>]*>([^<]*)</g)].map(([, shown]) => shown)
const newest = async (): Promise<string> =>
  /name="replaces" value="([^"]*)"/.exec((await owner.browser.open(path)).text)?.[1] ?? ''
const rotate = async (more: Record<string, string> = {}) =>
  owner.browser.send('POST', path, { replaces: await newest(), ...more })
describe('the secret of an app', () => {
  it('cannot be made without a second factor', async () => {
    const answer = await rotate()
    expect(answer.status).toBe(403)
    expect(seen(answer)).toContain('For this, your account needs')
    expect(seen(await owner.browser.open(path))).toContain('For this, your account needs a second factor.')
    const { rows } = await world.pool.query('select 1 from micro_app_secret where app_key = $1', [appKey])
    expect(rows).toEqual([])
  })

  it('page does not mention an authenticator if only passkeys are offered', async () => {
    const passkeysOnly = await openWorld({ SECOND_FACTOR: 'off' })
    try {
      const other = await founder(passkeysOnly)
      const ofOther = `/developer/apps/${await registered(other)}`
      for (const page of ['secret', 'webhook']) {
        const answer = await other.browser.open(`${ofOther}/${page}`)
        expect(seen(answer)).toContain('Add one, then come back here')
        expect(seen(answer)).not.toContain('authenticator')
      }
    } finally {
      await passkeysOnly.close()
    }
  })

  it('page leads to adding an authenticator and back, but never to another site', async () => {
    const { browser } = await founder(world)
    const leadsTo = async (return_to: string) => {
      const query = new URLSearchParams({ return_to })
      const field = /name="return_to" value="([^"]*)"/
      const begin = field.exec((await browser.open(`/account/security/sign-in?${query}`)).text)?.[1] ?? ''
      const made = await browser.send('POST', '/account/security/authenticator', { return_to: begin })
      const secret = /id="secret">([A-Z2-7]+)</.exec(made.text)?.[1] ?? ''
      const code = new TOTP({ secret, period: 30 }).generate({ timestamp: world.clock.now().getTime() })
      const form = { code, return_to: field.exec(made.text)?.[1] ?? '' }
      const { text } = await browser.send('POST', '/account/security/authenticator/confirm', form)
      await browser.send('POST', '/account/security/authenticator/remove', {})
      return /class="button" href="([^"]*)"/.exec(text)?.[1]
    }
    expect((await owner.browser.open(path)).text).toContain(`/account/security/sign-in?return_to=${path}"`)
    expect(await leadsTo(path)).toBe(path)
    expect(await leadsTo('https://elsewhere.example/')).toBe('/')
    expect(await leadsTo('//elsewhere.example/')).toBe('/')
  })

  it('is shown once, and works for a test user’s tokens in the contract dialect', async () => {
    await withAuthenticator(world, owner)
    const made = await rotate()
    const app_secret = secretIn(made)
    expect(app_secret).toMatch(/^ghas_/)
    expect(copied(made)).toEqual([appKey, app_secret])
    expect((await owner.browser.open(path)).text).not.toContain(app_secret)
    expect(world.logged()).not.toContain(app_secret)
    const app = { app_key: appKey, app_secret, redirect_uri: 'http://localhost:8000/callback' }
    const browser = await tester(world, owner, appKey)
    const tokens = await client.getTokens(browser, app, { scope: 'USER_INFO' })
    expect(dataOf(await client.userInfo(tokens.access_token))).toMatchObject({ uinfo: { name: 'Test Alice' } })
    expect(seen(await owner.browser.open(path))).toContain('Last used on')
  })

  it('is made once if the form is sent twice', async () => {
    const replaces = await newest()
    world.clock.advance(1)
    const answers = await Promise.all([1, 2].map(() => owner.browser.send('POST', path, { replaces })))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
    const [refused] = answers.filter(({ status }) => status === 409)
    expect(refused && seen(refused)).toContain('perhaps by your own second click. It cannot be shown again.')
  })

  it('leaves the previous one valid for a day by default', async () => {
    world.clock.advance(1)
    await rotate({ overlap_s: '' })
    const { rows } = await world.pool.query(
      "select detail from audit_event where event = 'app_secret_rotated' and app_key = $1 order by at desc limit 1",
      [appKey],
    )
    expect(rows).toEqual([{ detail: { overlap_s: 86_400 } }])
  })

  it('leaves the previous one valid for the chosen time', async () => {
    const secrets = [secretIn(await rotate())]
    const works = async () =>
      Promise.all(
        secrets.map(async (client_secret) => {
          const form = {
            client_id: appKey,
            client_secret,
            grant_type: 'authorization_code',
            code: 'x',
            redirect_uri: 'x',
          }
          const headers = { 'content-type': 'application/x-www-form-urlencoded' }
          const answer = await client.call('POST', '/oauth2/token', headers, String(new URLSearchParams(form)))
          return JSON.parse(answer.text).error !== 'invalid_client'
        }),
      )
    const warns = async () => seen(await owner.browser.open(path)).includes('The others stop working at once.')
    expect(await works(), 'used once').toEqual([true])
    world.clock.advance(1)
    secrets.push(secretIn(await rotate({ overlap_s: '3600' })))
    expect(await works()).toEqual([true, true])
    expect(await warns()).toBe(true)
    world.clock.advance(3_601)
    expect(await works()).toEqual([false, true])
    expect(await warns()).toBe(false)
  })

  it('requires an owner’s sign-in within a quarter of an hour, and is never available to a developer', async () => {
    const developer = await joined(world, owner)
    expect((await developer.browser.open(path)).status).toBe(403)
    const answer = await rotate()
    expect(header(answer, 'location')).toBe(`/sign-in?return_to=${encodeURIComponent(`${path}#unsent`)}&confirm=1`)
  })
})

it('adding an authenticator leads back even if it requires signing in again', async () => {
  const { browser } = await founder(world)
  world.clock.advance(901)
  const begun = await browser.send('POST', '/account/security/authenticator', { return_to: path })
  const page = `/account/security/sign-in?${new URLSearchParams({ return_to: path })}`
  expect(header(begun, 'location')).toBe(`/sign-in?${new URLSearchParams({ return_to: `${page}#unsent` })}&confirm=1`)
})

it('the page shows how many tokens would end, and ends them all', async () => {
  const other = await founder(world)
  await withAuthenticator(world, other)
  const made = await registered(other)
  const own = `/developer/apps/${made}/secret`
  const app_secret = secretIn(await other.browser.send('POST', own, { replaces: '' }))
  const app = { app_key: made, app_secret, redirect_uri: 'http://localhost:8000/callback' }
  const { access_token } = await client.getTokens(await tester(world, other, made), app, { scope: 'USER_INFO' })
  expect(seen(await other.browser.open(own))).toContain('People who use the app: 1. Permissions that work: 1.')
  world.clock.advance(1)
  expect(header(await other.browser.send('POST', `/developer/apps/${made}/end-tokens`, {}), 'location')).toBe(
    `${own}?done=ended`,
  )
  expect(JSON.parse((await client.userInfo(access_token)).text).rescode).toBe(20009)
})
