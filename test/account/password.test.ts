import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { changePassword } from '../../src/authorization/account/password.ts'
import { findSession } from '../../src/authorization/account/session.ts'
import type { Db } from '../../src/platform/db/sql.ts'
import { ConcurrencyLimit } from '../../src/platform/lib/concurrency-limit.ts'
import { SignInRefused } from '../../src/platform/throttle/index.ts'
import type { Browser } from '../acceptance/browser.ts'
import { type App, Client, dataOf, type TokenSet, tokenSetOf, type User } from '../acceptance/client.ts'
import { injectWire } from '../acceptance/http.ts'
import { altered } from '../altered.ts'
import { gatehouse } from '../cli-runner.ts'
import { MANY_CONNECTIONS, openWorld, SECRET_KEY, type World } from '../harness.ts'
import { untilLocked } from '../locks.ts'
import { until } from '../until.ts'
import { FORM, form } from './people.ts'

/** Setting a new password, through an operator's link or with the present password. */

let world: World
let client: Client
let app: App
beforeAll(async () => {
  world = await openWorld(MANY_CONNECTIONS)
  client = new Client(injectWire(world.app), world.deps.config.PUBLIC_URL)
  app = await client.makeApp()
})
afterAll(() => world?.close())

const NEW = 'a new password'
const makeLink = async ({ cid, user_id }: User): Promise<string> => {
  const { url } = await client.admin('POST', '/users/reset-password', { cid, user_id })
  return new URL(String(url)).searchParams.get('token') ?? ''
}
const post = (fields: Record<string, string>, headers: Record<string, string> = {}) =>
  client.call('POST', '/password', { ...FORM, ...headers }, form({ ...fields }))
const setByLink = (token: string, password = NEW, password_again = password) =>
  post({ token, password, password_again })
const signsIn = async ({ passport }: User, password: string): Promise<boolean> => {
  const { status } = await client.call('POST', '/sign-in', FORM, form({ passport, password }))
  return status === 303
}
const isSignedIn = async (browser: Browser): Promise<boolean> =>
  (await browser.open('/account')).text.includes('<section') ||
  (await browser.open('/password')).text.includes('current_password')

interface Person {
  readonly user: User
  readonly browser: Browser
  readonly tokens: TokenSet
}
async function makePerson(): Promise<Person> {
  const user = await client.makeUser()
  const browser = await client.signedIn(user, app)
  return { user, browser, tokens: await client.getTokens(browser, app) }
}

describe('an operator’s password link', () => {
  it('sets the password once and ends all sessions, while app tokens stay valid', async () => {
    const { user, browser, tokens } = await makePerson()
    const token = await makeLink(user)
    const page = await client.call('GET', `/password?token=${token}`)
    expect(page.text).toContain(`value="${user.passport}"`)
    expect(page.text).toContain('<meta name="referrer" content="strict-origin">')
    expect(await isSignedIn(browser)).toBe(true)
    expect((await setByLink(token)).text).toContain('The password was changed')
    expect(await isSignedIn(browser)).toBe(false)
    expect([await signsIn(user, user.password), await signsIn(user, NEW)]).toEqual([false, true])
    tokenSetOf(await client.refresh(app, tokens.refresh_token))
    dataOf(await client.userInfo(tokens.access_token))
    const again = await setByLink(token, 'another password')
    expect([again.status, again.text]).toEqual([410, expect.stringContaining('This link has been used, or has ended')])
    expect(await signsIn(user, NEW)).toBe(true)
  })

  it('ends the session of whose password it sets, not that of somebody else in the same browser', async () => {
    const [own, other] = [await makePerson(), await makePerson()]
    for (const { browser } of [own, other]) {
      const token = await makeLink(own.user)
      const fields = { token, password: NEW, password_again: NEW }
      expect((await browser.send('POST', '/password', fields)).text).toContain('The password was changed')
    }
    expect(await isSignedIn(other.browser)).toBe(true)
    expect([...own.browser.cookies.keys()]).not.toContain('gatehouse_session')
  })

  it('is followed by a sign-in, however many failed before with the forgotten password', async () => {
    const { user } = await makePerson()
    for (let n = 0; n < 6; n++) await signsIn(user, `wrong password ${n}`)
    expect(await signsIn(user, user.password)).toBe(false)
    expect((await setByLink(await makeLink(user))).status).toBe(200)
    expect(await signsIn(user, NEW)).toBe(true)
  })

  it('works for exactly one of several concurrent requests', async () => {
    const { user } = await makePerson()
    const token = await makeLink(user)
    const passwords = ['first password', 'second password', 'third password']
    const answers = await Promise.all(passwords.map((password) => setByLink(token, password)))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 410, 410])
    const works = await Promise.all(passwords.map((password) => signsIn(user, password)))
    expect(works).toEqual(answers.map(({ status }) => status === 200))
  })

  it('expires after a day, with a newer link, and with the account; a forged link never works', async () => {
    const { user } = await makePerson()
    const [first, second] = [await makeLink(user), await makeLink(user)]
    expect((await setByLink(first)).status).toBe(410)
    expect((await setByLink(altered(second))).status).toBe(404)
    expect((await setByLink('x')).status).toBe(404)
    const gone = await makePerson()
    const orphan = await makeLink(gone.user)
    await client.admin('POST', '/users/erase', { cid: gone.user.cid, user_id: gone.user.user_id })
    expect((await setByLink(orphan)).status).toBe(404)
    world.clock.advance(86_401)
    expect((await setByLink(second)).status).toBe(410)
    expect(await signsIn(user, user.password)).toBe(true)
  })

  it('never appears in logs or the audit log', async () => {
    const { user } = await makePerson()
    const token = await makeLink(user)
    await setByLink(token)
    const { rows } = await world.pool.query(
      `select event, detail, actor from audit_event where user_id = $1 and event like 'user_password%' order by event`,
      [user.user_id],
    )
    expect(rows).toEqual([
      { event: 'user_password_link_made', detail: {}, actor: 'operator' },
      { event: 'user_password_reset', detail: {}, actor: 'user' },
    ])
    expect(world.logged()).not.toContain(token)
    expect(world.logged()).not.toContain(NEW)
    const settings = { DATABASE_URL: world.databaseUrl, SECRET_KEY }
    const key = ['--cid', String(user.cid), '--user-id', user.user_id]
    const { stdout } = await gatehouse(settings, 'user', 'reset-password', ...key)
    expect(stdout).toMatch(/^url +http:\/\/\S+\/password\?token=ghpl_\S{48}\nexpires_at +2026-/m)
    await expect(client.admin('POST', '/users/reset-password', { cid: 7, user_id: 'nobody' })).rejects.toThrow('404')
  })

  it('stays usable after unsuitable passwords and forms of other sites are refused', async () => {
    const { user } = await makePerson()
    const token = await makeLink(user)
    expect((await setByLink(token, 'short')).status).toBe(400)
    expect((await setByLink(token, NEW, 'another one')).text).toContain('The two passwords are not the same.')
    const foreign = await post({ token, password: NEW, password_again: NEW }, { 'sec-fetch-site': 'cross-site' })
    expect(foreign.status).toBe(403)
    expect((await setByLink(token)).status).toBe(200)
  })
})

describe('a common password', () => {
  const COMMON = ['password1', 'PassWord1', 'qwertyuiop', 'ｐａｓｓｗｏｒｄ１']
  const problemOf = ({ text }: { text: string }) =>
    /role="alert" id="alert">([^<]*)/.exec(text)?.[1]?.replace(/&#39;/g, "'")
  const EN =
    'This password is among those that attackers try first, because many people use it. Choose another one. Nothing was changed.'
  const ZH = '很多人使用这个密码，攻击者会首先尝试它。请换一个密码。未做任何更改。'

  it('is refused through a link and by its owner, in both languages, and changes nothing', async () => {
    const { user, browser } = await makePerson()
    const token = await makeLink(user)
    for (const password of COMMON) {
      const answer = await setByLink(token, password)
      expect([answer.status, problemOf(answer)], password).toEqual([400, EN])
      const change = { current_password: user.password, password, password_again: password }
      const own = await browser.send('POST', '/password?ui_locales=zh-CN', change)
      expect([own.status, problemOf(own)], password).toEqual([400, ZH])
    }
    expect(await signsIn(user, user.password)).toBe(true)
    expect((await setByLink(token)).status).toBe(200)
  })

  it('is refused if it equals the passport, and when an operator creates a user', async () => {
    const { user } = await makePerson()
    const token = await makeLink(user)
    expect((await setByLink(token, ` ${user.passport.toUpperCase()}`.trim())).status).toBe(400)
    for (const password of COMMON) {
      await expect(client.makeUser({ password })).rejects.toThrow('password is among those that attackers try first')
    }
    await expect(client.makeUser({ passport: 'somebody special', password: 'Somebody special' })).rejects.toThrow(
      'password is what one signs in with',
    )
  })
})

describe('the person’s own change', () => {
  const change = (browser: Browser, current_password: string, password = NEW) =>
    browser.send('POST', '/password', { current_password, password, password_again: password })

  it('needs the present password, ends all other sessions and keeps this one', async () => {
    const { user, browser } = await makePerson()
    const elsewhere = await client.signedIn(user, app)
    expect((await change(browser, 'wrong password')).status).toBe(403)
    expect(await isSignedIn(elsewhere)).toBe(true)
    expect((await change(browser, user.password)).text).toContain('The password was changed')
    expect([await isSignedIn(browser), await isSignedIn(elsewhere)]).toEqual([true, false])
    expect([await signsIn(user, user.password), await signsIn(user, NEW)]).toEqual([false, true])
  })

  it('shows the passport, so that a password manager stores the new password under it', async () => {
    const { user, browser } = await makePerson()
    const named = new RegExp(`value="${user.passport}" readonly autocomplete="username"`)
    expect((await browser.open('/password')).text).toMatch(named)
    expect((await change(browser, 'wrong password')).text).toMatch(named)
    expect((await change(browser, user.password, '12345678')).text).toMatch(named)
    expect((await change(browser, user.password, 'short')).text).toMatch(named)
  })

  it('counts wrong present passwords against the session, not as failed sign-ins', async () => {
    const { user, browser } = await makePerson()
    for (let n = 0; n < 5; n++) expect((await change(browser, 'wrong password')).status).toBe(403)
    const limited = await change(browser, user.password)
    expect([limited.status, Number(limited.headers['retry-after']) > 0]).toEqual([429, true])
    expect(await signsIn(user, user.password)).toBe(true)
  })

  it('checks no more concurrent guesses than the limit allows', async () => {
    const { user, browser } = await makePerson()
    const session = await findSession(world.deps, browser.cookies.get('gatehouse_session'))
    if (!session) throw new Error('no session')
    let goOn = () => {}
    const gate = new Promise<void>((resolve) => {
      goOn = resolve
    })
    let reads = 0
    // The first read is the passport; the second, after the limit is checked, is the password's hash.
    const maybeValue: Db['maybeValue'] = async (...query) => {
      const value = await world.deps.db.maybeValue(...query)
      if (++reads === 2) await gate
      return value
    }
    const slots = new ConcurrencyLimit({ name: 'held', most: 1, length: 1, waitMs: 10_000 })
    const held = { ...world.deps, db: { ...world.deps.db, maybeValue }, passwordSlots: slots }
    const right = changePassword(held, session, { current: user.password, password: NEW, address: '192.0.2.1' })
    await until(() => reads === 2)
    for (let n = 0; n < 5; n++) await change(browser, 'wrong password')
    goOn()
    await expect(right).rejects.toBeInstanceOf(SignInRefused)
    expect(await signsIn(user, user.password)).toBe(true)
  })

  it('is refused for its reason if the session ends meanwhile', async () => {
    const { user, browser } = await makePerson()
    const session = await findSession(world.deps, browser.cookies.get('gatehouse_session'))
    if (!session) throw new Error('no session')
    await world.pool.query('delete from browser_session where user_id = $1', [user.user_id])
    const changing = changePassword(world.deps, session, { current: user.password, password: NEW, address: '::1' })
    await expect(changing).rejects.toMatchObject({ reason: 'signed_out' })
  })

  it('requires a sign-in', async () => {
    expect((await client.newBrowser().open('/password')).text).toContain('name="return_to" value="/password"')
    expect((await post({ current_password: 'x', password: NEW, password_again: NEW })).status).toBe(403)
  })
})

it('a sign-in with the old password fails if the password changes meanwhile', async () => {
  const { user } = await makePerson()
  const holder = await world.pool.connect()
  try {
    await holder.query('begin')
    await holder.query('select from user_profile where user_id = $1 for update', [user.user_id])
    const signing = signsIn(user, user.password)
    await untilLocked(world.pool)
    await holder.query("update user_credential set password_hash = 'another' where user_id = $1", [user.user_id])
    await holder.query('commit')
    expect(await signing).toBe(false)
  } finally {
    holder.release()
  }
})
