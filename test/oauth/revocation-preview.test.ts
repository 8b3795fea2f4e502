import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { routingKeyOf } from '../../src/authorization/account/wire.ts'
import { rememberConsent, rememberedConsent } from '../../src/authorization/oauth/consent-store.ts'
import { liveGrantsOf } from '../../src/authorization/oauth/index.ts'
import type { Browser } from '../acceptance/browser.ts'
import { type App, Client, dataOf, envelopeOf, type TokenSet, tokenSetOf, type User } from '../acceptance/client.ts'
import { consentForm, signInForm } from '../acceptance/form.ts'
import { type Answer, injectWire } from '../acceptance/http.ts'
import { gatehouse } from '../cli-runner.ts'
import { MANY_CONNECTIONS, openWorld, SECRET_KEY, type World } from '../harness.ts'
import { untilLocked } from '../locks.ts'

/** Ending all sessions and tokens of a user, or all tokens of an app, at once. */

let world: World
let client: Client
beforeAll(async () => {
  world = await openWorld(MANY_CONNECTIONS)
  client = new Client(injectWire(world.app), world.deps.config.PUBLIC_URL)
})
afterAll(() => world.close())

interface Holder {
  readonly user: User
  readonly app: App
  readonly browser: Browser
  readonly tokens: TokenSet
  readonly consented: { code: string; state: string }
}

async function makeHolder(user: User, app: App): Promise<Holder> {
  const browser = await client.signedIn(user, app)
  const tokens = await client.getTokens(browser, app)
  const holder = { user, app, browser, tokens, consented: await client.getCode(browser, app) }
  world.clock.advance(1)
  return holder
}

const rescodeOf = (answer: Answer): number => envelopeOf(answer).rescode
const userPath = ({ cid, user_id }: User) => `/users/end-sessions?cid=${cid}&user_id=${user_id}`
const endUser = ({ cid, user_id }: User) => client.admin('POST', '/users/end-sessions', { cid, user_id })
const endApp = ({ app_key }: App) => client.admin('POST', `/apps/${app_key}/end-tokens`)
const revoked = { access: 20009, code: 20006, refresh: 20006 }
const signedIn = async ({ browser, app }: Holder) => {
  const page = await browser.open(client.authorizePath(client.request(app)))
  expect([consentForm(page.text), signInForm(page.text)].filter(Boolean)).toHaveLength(1)
  return consentForm(page.text) !== undefined
}

async function expectEnded({ tokens, consented, app }: Holder): Promise<void> {
  expect(rescodeOf(await client.userInfo(tokens.access_token))).toBe(revoked.access)
  expect(rescodeOf(await client.phone(tokens.access_token))).toBe(revoked.access)
  expect(rescodeOf(await client.refresh(app, tokens.refresh_token))).toBe(revoked.refresh)
  expect(rescodeOf(await client.exchange(app, consented))).toBe(revoked.code)
}
async function expectAlive({ tokens, app }: Holder): Promise<void> {
  dataOf(await client.userInfo(tokens.access_token))
  tokenSetOf(await client.refresh(app, tokens.refresh_token))
}

it('ending again with a clock that is behind does not move the time back', async () => {
  const [user, app] = [await client.makeUser(), await client.makeApp()]
  const [users, apps] = [await endUser(user), await endApp(app)]
  world.clock.advance(-60)
  expect((await endUser(user)).valid_from).toBe(users.valid_from)
  expect((await endApp(app)).valid_from).toBe(apps.valid_from)
  world.clock.advance(120)
  expect((await endUser(user)).valid_from).not.toBe(users.valid_from)
  expect((await endApp(app)).valid_from).not.toBe(apps.valid_from)
})

describe.each(['fixed', 'rotating'])('ending everything of a user (refresh tokens: %s)', (refresh_policy) => {
  it('takes effect at once and for nobody else; later tokens work', async () => {
    const [user, other] = [await client.makeUser(), await client.makeUser()]
    const app = await client.makeApp({ refresh_policy })
    const [ended, alive] = [await makeHolder(user, app), await makeHolder(other, app)]
    expect(await client.admin('GET', userPath(user))).toMatchObject({ tokens: 2, apps: 1, sessions: 1 })
    await endUser(user)
    await expectEnded(ended)
    expect([await signedIn(ended), await signedIn(alive)]).toEqual([false, true])
    await expectAlive(alive)
    tokenSetOf(await client.exchange(app, alive.consented))
    expect(await client.admin('GET', userPath(user))).toMatchObject({ tokens: 0, apps: 0, sessions: 0 })
    const grants = await client.grants(user)
    expect(grants.every(({ revoked_at }) => revoked_at !== null)).toBe(true)
    const explained = await client.admin('GET', `/explain?about=${ended.tokens.access_token.slice(0, 17)}`)
    const { issued } = explained.token as { issued: { user_id: string; revoked_at: string | null }[] }
    expect(issued.filter(({ user_id }) => user_id === user.user_id)).toMatchObject([{ revoked_at: expect.any(String) }])
    expect(await liveGrantsOf(world.deps, user)).toMatchObject({ grants: 0 })
    world.clock.advance(1)
    await expectAlive(await makeHolder(user, app))
  })
})

describe('ending all tokens of an app', () => {
  it('takes effect at once and for no other app; people stay signed in', async () => {
    const user = await client.makeUser()
    const [app, other] = [await client.makeApp(), await client.makeApp()]
    const [ofApp, ofOther] = [await makeHolder(user, app), await makeHolder(user, other)]
    await makeHolder(await client.makeUser(), app)
    const path = `/apps/${app.app_key}/end-tokens`
    expect(await client.admin('GET', path)).toEqual({ app_key: app.app_key, grants: 4, people: 2 })
    await endApp(app)
    await expectEnded(ofApp)
    expect(await signedIn(ofApp)).toBe(true)
    await expectAlive(ofOther)
    expect(await client.admin('GET', path)).toEqual({ app_key: app.app_key, grants: 0, people: 0 })
    world.clock.advance(1)
    await expectAlive(await makeHolder(user, app))
  })

  it('is refused for an app that does not exist, as it is for a user', async () => {
    for (const path of ['/apps/nobody/end-tokens', '/users/end-sessions?cid=7&user_id=nobody'])
      await expect(client.admin('GET', path)).rejects.toThrow('404')
    await expect(client.admin('POST', '/apps/nobody/end-tokens')).rejects.toThrow('404')
    await expect(endUser({ passport: '', password: '', cid: 7, user_id: 'nobody' })).rejects.toThrow('404')
  })
})

it('concurrent refreshes and exchanges give no tokens that work afterwards', async () => {
  for (const end of [({ user }: Holder) => endUser(user), ({ app }: Holder) => endApp(app)]) {
    const one = await makeHolder(await client.makeUser(), await client.makeApp({ refresh_policy: 'fixed' }))
    const { app, tokens, consented } = one
    const refreshes = Array.from({ length: 20 }, () => client.refresh(app, tokens.refresh_token))
    const [exchanged] = await Promise.all([client.exchange(app, consented), end(one)])
    const answers = [exchanged, ...(await Promise.all(refreshes))]
    for (const answer of answers.filter((each) => envelopeOf(each).rescode === 0)) {
      const { access_token, refresh_token } = tokenSetOf(answer)
      expect(rescodeOf(await client.userInfo(access_token))).toBe(revoked.access)
      expect(rescodeOf(await client.refresh(app, refresh_token))).toBe(revoked.refresh)
    }
  }
})

it('a concurrent consent waits, and is refused because its session has ended', async () => {
  const { user, app, browser } = await makeHolder(await client.makeUser(), await client.makeApp())
  const form = await client.consentFormFor(browser, client.request(app))
  const ending = await world.pool.connect()
  try {
    await ending.query('begin')
    await ending.query('update user_profile set valid_from = $1 where user_id = $2', [world.clock.now(), user.user_id])
    const posted = browser.submit(form, { decision: 'approve' })
    await untilLocked(world.pool)
    await ending.query('commit')
    const answer = await posted
    expect(answer.status).not.toBe(303)
    expect(answer.text).toContain('belongs to a session that has ended')
  } finally {
    await ending.query('rollback')
    ending.release()
  }
})

it('remembered consents end too, and are not restored by a later consent', async () => {
  for (const end of ['user', 'app']) {
    const { user, app } = await makeHolder(await client.makeUser(), await client.makeApp())
    const routingKey = routingKeyOf(user.cid, user.user_id)
    const consent = { routingKey, cid: user.cid, userId: user.user_id, appKey: app.app_key }
    const { db } = world.deps
    const remember = (...scopes: string[]) => rememberConsent(db, { ...consent, scopes }, world.clock.now())
    const known = async () => (await rememberedConsent(db, consent))?.scopes ?? []
    await remember('openid')
    await remember('profile', 'openid')
    expect([...(await known())].sort()).toEqual(['openid', 'profile'])
    await (end === 'user' ? endUser(user) : endApp(app))
    expect(await known()).toEqual([])
    world.clock.advance(1)
    await remember('phone')
    expect(await known()).toEqual(['phone'])
  }
})

it('the commands preview what would end, do it with --yes, and are audited', async () => {
  const { user, app } = await makeHolder(await client.makeUser(), await client.makeApp())
  const run = (...args: string[]) => gatehouse({ DATABASE_URL: world.databaseUrl, SECRET_KEY }, ...args)
  const key = ['--cid', String(user.cid), '--user-id', user.user_id]
  expect((await run('user', 'end-sessions', ...key)).stdout).toMatch(
    /^This would end:\ncid +\d+\nuser_id +\S+\ntokens +\d\napps +\d\nsessions +\d\nRepeat with --yes/,
  )
  expect((await run('app', 'end-tokens', app.app_key)).stdout).toMatch(
    /^This would end:\napp_key +\S+\ngrants +\d\npeople +\d\nRepeat with --yes/,
  )
  const events = async () =>
    (await world.pool.query("select event from audit_event where event like '%ended' and actor = 'cli'")).rows
  expect(await events()).toEqual([])
  for (const args of [
    ['user', 'end-sessions', ...key],
    ['app', 'end-tokens', app.app_key],
  ])
    expect((await run(...args, '--yes')).stdout).toMatch(
      /^(everything issued before 20\S+Z is revoked|valid_from +20\S+Z)$/m,
    )
  expect((await events()).map(({ event }) => event).sort()).toEqual(['app_tokens_ended', 'user_sessions_ended'])
})
