import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { type App, Client } from '../acceptance/client.ts'
import { injectWire } from '../acceptance/http.ts'
import { openWorld, type World } from '../harness.ts'
import { untilLocked } from '../locks.ts'
import { bodyOf, StandardApp } from './app.ts'
import { visit } from './person.ts'

/** Ending all tokens of an app while people with remembered consents sign in to it. */

let world: World
let client: Client
beforeAll(async () => {
  world = await openWorld({ AUTHORIZE_PER_MINUTE: '1000000' })
  client = new Client(injectWire(world.app), world.deps.config.PUBLIC_URL)
})
afterAll(() => world?.close())

/** Ends all tokens of the app in an open transaction; returns the function that commits it. */
async function endingTokensOf({ app_key }: App): Promise<() => Promise<unknown>> {
  const ending = await world.pool.connect()
  onTestFinished(() => ending.release())
  await ending.query('begin')
  world.clock.advance(1)
  await ending.query('update micro_app set valid_from = $1 where app_key = $2', [world.clock.now(), app_key])
  world.clock.advance(0.001)
  return () => ending.query('commit')
}

/** A person with a remembered consent for an app. */
async function withConsent(scope: string) {
  const rp = await StandardApp.make(client, { require_pkce: false })
  const user = await client.makeUser()
  const browser = client.newBrowser()
  await rp.tokens(browser, user, { scope })
  const errorOf = async (asked: string) =>
    (await visit(browser, rp.authorizeUrl({ scope: asked, prompt: 'none' }))).location.searchParams.get('error')
  return { rp, user, browser, errorOf }
}

describe('a silent grant based on an earlier consent', () => {
  it('ends with the consent, even if it was made a moment later', async () => {
    const { rp, user, browser, errorOf } = await withConsent('openid profile')
    const silent = { scope: 'openid profile', prompt: 'none' }
    const end = await endingTokensOf(rp.app)
    const [code, exchanged] = [await rp.code(browser, user, silent), await rp.tokens(browser, user, silent)]
    await end()
    expect(bodyOf(await rp.exchange(code), 400)).toMatchObject({ error: 'invalid_grant' })
    expect((await rp.userInfo(exchanged.access_token)).status).toBe(401)
    expect(await errorOf('openid profile')).toBe('consent_required')
  })

  it('is valid if the person has consented again since', async () => {
    const { rp, user, browser } = await withConsent('openid profile')
    await (await endingTokensOf(rp.app))()
    await rp.tokens(browser, user, { scope: 'openid profile' })
    const tokens = await rp.tokens(browser, user, { scope: 'openid profile', prompt: 'none' })
    expect((await rp.userInfo(tokens.access_token)).status).toBe(200)
  })
})

it.each([
  ['all sessions of the person end', 'update user_profile set valid_from = $1 where user_id = $2'],
  [
    'the session ends',
    'with locked as (update user_profile set updated_at = $1 where user_id = $2 returning cid, user_id) delete from browser_session s using locked l where (s.cid, s.user_id) = (l.cid, l.user_id)',
  ],
])('a silent request during which %s gets login_required', async (_what, statement) => {
  const { rp, user, browser } = await withConsent('openid profile')
  const ending = await world.pool.connect()
  onTestFinished(() => ending.release())
  await ending.query('begin')
  await ending.query(statement, [world.clock.now(), user.user_id])
  const asked = visit(browser, rp.authorizeUrl({ scope: 'openid profile', prompt: 'none' }))
  await untilLocked(world.pool)
  await ending.query('commit')
  expect((await asked).location.searchParams.get('error')).toBe('login_required')
})

it('revoking an ended grant again does not affect later consents', async () => {
  const { rp, user, browser, errorOf } = await withConsent('openid profile')
  const [grant] = await client.grants(user)
  const { cid, user_id } = user
  const revoke = () => client.admin('POST', '/grants/revoke', { cid, user_id, grant_id: grant?.grant_id })
  await revoke()
  expect(await errorOf('openid profile')).toBe('consent_required')
  await rp.tokens(browser, user, { scope: 'openid profile' })
  await revoke()
  expect(await errorOf('openid profile')).toBeNull()
})

it('a consent given at that moment is valid, but restores no earlier one', async () => {
  const { rp, user, browser, errorOf } = await withConsent('openid profile')
  const end = await endingTokensOf(rp.app)
  const { access_token } = await rp.tokens(browser, user, { scope: 'openid phone' })
  await end()
  expect((await rp.userInfo(access_token)).status, 'the person was asked for this').toBe(200)
  expect(await errorOf('openid profile')).toBe('consent_required')
})
