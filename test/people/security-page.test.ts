import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { lockUser, rowKeyOf } from '../../src/authorization/account/index.ts'
import { eraseDue } from '../../src/authorization/people/index.ts'
import { deleteRequest, insertRequest } from '../../src/authorization/people/store.ts'
import { purge } from '../../src/operations/jobs/purge.ts'
import type { Deps } from '../../src/platform/deps.ts'
import type { Browser } from '../acceptance/browser.ts'
import { type App, Client, type User } from '../acceptance/client.ts'
import { visibleText } from '../acceptance/form.ts'
import { injectWire } from '../acceptance/http.ts'
import { openWorld, type World } from '../harness.ts'
import { untilLocked } from '../locks.ts'

/** A person's sessions, sign-in history, and deletion of the account. */

let world: World
let client: Client
let app: App
beforeAll(async () => {
  world = await openWorld({ SIGN_IN_FAILURES_PER_PASSPORT: '2' })
  client = new Client(injectWire(world.app), world.deps.config.PUBLIC_URL)
  app = await client.makeApp()
})
afterAll(() => world?.close())

const textOf = async (browser: Browser, path = '/account/security?ui_locales=en') =>
  visibleText((await browser.open(path)).text).replace(/\s+/g, ' ')
const idsOf = async (browser: Browser): Promise<string[]> =>
  [...(await browser.open('/account/security')).text.matchAll(/name="session" value="([^"]+)"/g)].map(
    ([, id = '']) => id,
  )
const isSignedIn = async (browser: Browser) => (await browser.open('/account')).text.includes('Test user')
const failSignIn = (user: User) => client.signedIn({ ...user, password: 'wrong-password' }, app).catch(() => {})

describe('sessions', () => {
  it('can be ended one by one by their owner only', async () => {
    const [user, stranger] = [await client.makeUser(), await client.makeUser()]
    const [one, other] = [await client.signedIn(user, app), await client.signedIn(user, app)]
    const theirs = await client.signedIn(stranger, app)
    const ids = await idsOf(one)
    expect(ids).toHaveLength(2)
    const end = (browser: Browser, session: string) => browser.send('POST', '/account/sessions/end', { session })
    for (const session of [...ids, '', 'x', 'a\0b']) await end(theirs, session)
    expect([await isSignedIn(one), await isSignedIn(other)]).toEqual([true, true])
    expect((await end(one, ids[1] ?? '')).status).toBe(303)
    expect([await isSignedIn(one), await isSignedIn(other)]).toEqual([true, false])
    expect((await end(one, ids[1] ?? '')).headers.location).toBe('/account/security?done=session') // as in another tab
    expect((await end(one, ids[0] ?? '')).headers.location).toBe('/')
    expect(await isSignedIn(one)).toBe(false)
    expect(await isSignedIn(theirs)).toBe(true)
  })

  it('can be ended all except the current one, and nobody else’s', async () => {
    const [user, stranger] = [await client.makeUser(), await client.makeUser()]
    const browsers = [
      await client.signedIn(user, app),
      await client.signedIn(user, app),
      await client.signedIn(user, app),
    ]
    const theirs = await client.signedIn(stranger, app)
    await browsers[0]?.send('POST', '/account/sessions/end-others', {})
    expect(await Promise.all([...browsers, theirs].map(isSignedIn))).toEqual([true, false, false, true])
    const { rows } = await world.pool.query(
      "select actor, detail from audit_event where event = 'user_sessions_ended' and user_id = $1",
      [user.user_id],
    )
    expect(rows).toEqual([{ actor: 'user', detail: { sessions: 2 } }])
  })

  it('change nothing after they have ended, also if that is just happening', async () => {
    const user = await client.makeUser()
    const [browser, other] = [await client.signedIn(user, app), await client.signedIn(user, app)]
    const ending = await world.pool.connect()
    const requests = async () =>
      (await world.pool.query('select from deletion_request where user_id = $1', [user.user_id])).rowCount
    try {
      await ending.query('begin')
      await ending.query('delete from browser_session where user_id = $1', [user.user_id])
      const changing = [
        browser.send('POST', '/account/profile', { name: 'Changed too late' }),
        other.send('POST', '/account/deletion', {}),
      ]
      await untilLocked(world.pool, changing.length)
      await ending.query('commit')
      await Promise.all(changing)
    } finally {
      ending.release()
    }
    expect(await requests()).toBe(0)
    const later = await client.signedIn(user, app)
    expect(await textOf(later, '/account/profile')).not.toContain('Changed too late')
  })

  it('that are just ending end no others, and keep no account that is to be deleted', async () => {
    const user = await client.makeUser()
    const owner = await client.signedIn(user, app)
    await owner.send('POST', '/account/deletion', {})
    world.clock.advance(1)
    const thief = await client.signedIn(user, app)
    const [, session = ''] = await idsOf(thief)
    const ending = await world.pool.connect()
    try {
      await ending.query('begin')
      await ending.query(
        `delete from browser_session where user_id = $1
           and created_at = (select max(created_at) from browser_session where user_id = $1)`,
        [user.user_id],
      )
      const changing = [
        thief.send('POST', '/account/sessions/end', { session }),
        thief.send('POST', '/account/sessions/end-others', {}),
        thief.send('POST', '/account/deletion/cancel', {}),
      ]
      await Promise.race([Promise.all(changing), untilLocked(world.pool, changing.length)])
      await ending.query('commit')
      await Promise.all(changing)
    } finally {
      ending.release()
    }
    expect(await isSignedIn(owner)).toBe(true)
    const asked = await world.pool.query('select from deletion_request where user_id = $1', [user.user_id])
    expect(asked.rowCount).toBe(1)
    await owner.send('POST', '/account/deletion/cancel', {})
  })

  it('ended by an operator are not listed', async () => {
    const user = await client.makeUser()
    await client.signedIn(user, app)
    await client.admin('POST', '/users/end-sessions', { cid: user.cid, user_id: user.user_id })
    world.clock.advance(1)
    expect(await idsOf(await client.signedIn(user, app))).toHaveLength(1)
  })
})

describe('the history of sign-ins', () => {
  it('includes failed ones, and the one refused by the limit', async () => {
    const user = await client.makeUser()
    for (let n = 0; n < 3; n++) {
      await failSignIn(user)
      world.clock.advance(1)
    }
    world.clock.advance(16 * 60)
    const page = await textOf(await client.signedIn(user, app))
    expect(page).toMatch(/Signed in 2026.*127\.0\.0\.1.*Refused after too many wrong passwords.*Wrong password/)
    const { rows } = await world.pool.query("select user_id from sign_in where user_agent like '%password%'")
    expect(rows).toEqual([])
  })

  it('goes back 90 days page by page, and accepts a User-Agent of any length', async () => {
    const user = await client.makeUser()
    const browser = await client.signedIn(user, app)
    await world.pool.query(
      `insert into sign_in (routing_key, cid, user_id, at, outcome)
       select routing_key, cid, user_id, at - n * interval '1 day', 'failed' from sign_in, generate_series(1, 100) n
       where user_id = $1`,
      [user.user_id],
    )
    await purge(world.deps, {})
    const { rows } = await world.pool.query('select count(*)::int as left from sign_in where user_id = $1', [
      user.user_id,
    ])
    expect(rows[0].left).toBeGreaterThanOrEqual(90)
    expect(rows[0].left).toBeLessThanOrEqual(91)
    let pages = 0
    for (let path: string | undefined = '/account/security'; path; pages++) {
      path = /href="(\/account\/security\?after=[^"#]+)/.exec((await browser.open(path)).text)?.[1]
    }
    expect(pages).toBe(5)
    expect((await browser.open('/account/security?after=x')).status).toBe(200)
    const payload = new URLSearchParams({ passport: user.passport, password: user.password }).toString()
    const headers = {
      'content-type': 'application/x-www-form-urlencoded',
      'user-agent': `Firefox/1 ${'x'.repeat(2_000)}`,
    }
    expect((await world.app.inject({ method: 'POST', url: '/sign-in', payload, headers })).statusCode).toBe(303)
    expect(await textOf(browser)).toContain('Firefox')
  })
})

describe('navigation', () => {
  it('names the requesting app on the sign-in page in both dialects, and cannot be forged', async () => {
    const trips = await client.makeApp({
      name: 'Sunny <Day> Trips',
      redirect_uris: ['https://app.example.com/callback'],
    })
    const says = 'Use your Gatehouse account to continue to Sunny &lt;Day&gt; Trips.'
    const query = new URLSearchParams({
      ...{ client_id: trips.app_key, redirect_uri: 'https://app.example.com/callback', response_type: 'code' },
      ...{ scope: 'openid', state: 'ä "q"', code_challenge: 'x'.repeat(43), code_challenge_method: 'S256' },
    })
    for (const path of [client.authorizePath(client.request(trips)), `/oauth2/authorize?${query}`]) {
      const page = await client.newBrowser().open(path)
      expect(page.text).toContain(says)
      const again = await client.newBrowser().send('POST', '/sign-in', {
        passport: 'nobody',
        password: 'wrong',
        return_to: /name="return_to" value="([^"]*)"/.exec(page.text)?.[1]?.replaceAll('&amp;', '&') ?? '',
        app: /name="app" value="([^"]*)"/.exec(page.text)?.[1] ?? '',
      })
      expect(again.status).toBe(403)
      expect(again.text).toContain(says)
      const elsewhere = new URLSearchParams({
        return_to: '/account',
        app: /name="app" value="([^"]*)"/.exec(page.text)?.[1] ?? '',
      })
      expect((await client.newBrowser().open(`/sign-in?${elsewhere}`)).text).toContain('Use your Gatehouse account.')
    }
    for (const forged of ['x', 'U3Vubnk.x', '.', 'a'.repeat(2_000)])
      expect((await client.newBrowser().open(`/sign-in?app=${forged}`)).text).toContain('Use your Gatehouse account.')
  })

  it('leads from / to the account, password managers to the password page, and from errors home', async () => {
    const browser = await client.signedIn(await client.makeUser(), app)
    const moved = async (path: string, by = browser) => (await by.send('GET', path)).headers.location
    expect(await moved('/')).toBe('/account')
    expect(await moved('/', client.newBrowser())).toBeUndefined()
    expect(await moved('/.well-known/change-password')).toBe('/password')
    expect((await browser.open('/.well-known/change-password')).text).toContain('name="current_password"')
    for (const path of ['/oauth/v2/authorize', '/oauth2/authorize?client_id=x', '/no-such-page'])
      expect((await browser.send('GET', path)).text, path).toContain('<a href="/">Go to Gatehouse</a>')
  })
})

const NONE_DUE = { erased: 0, failed: 0, failures: [] }

/** A world of the test's own, with who acts in it. */
async function openForTest(mode: 'off' | 'after-14-days') {
  const opened = await openWorld({ ACCOUNT_DELETION: mode })
  onTestFinished(() => opened.close())
  return { opened, by: new Client(injectWire(opened.app), opened.deps.config.PUBLIC_URL) }
}

/** One where deletion happens by itself. `due` erases those who are due. */
async function automaticWorld() {
  const { opened: automatic, by } = await openForTest('after-14-days')
  const due = (changed: Partial<Deps> = {}) => eraseDue({ ...automatic.deps, ...changed }, new AbortController().signal)
  return { automatic, by, due }
}

/** Lets `does` happen, in PL/pgSQL, for each person whose row of this table is deleted and whose id is like `userIds`. */
const whenErased = (of: World, table: string, userIds: string, does: string) =>
  of.pool.query(
    `create function at_erasure() returns trigger language plpgsql as $$ begin
       if old.user_id like '${userIds}' then ${does}; end if; return old; end $$;
     create trigger at_erasure before delete on ${table} for each row execute function at_erasure()`,
  )
const asBefore = (of: World) => of.pool.query('drop function at_erasure cascade')

describe('the deletion of an account', () => {
  const requests = async (by = client) =>
    (await by.admin('GET', '/users/deletion-requests')).requests as { user_id: string; due_at: string | null }[]

  it('is requested once, listed for operators until one erases the person, and can be cancelled', async () => {
    const [user, other] = [await client.makeUser(), await client.makeUser()]
    const [browser, hers] = [await client.signedIn(user, app), await client.signedIn(other, app)]
    for (const each of [browser, browser, hers]) {
      expect((await each.send('POST', '/account/deletion', {})).status).toBe(303)
      world.clock.advance(1)
    }
    expect(await textOf(browser, '/account/data?ui_locales=en')).toContain(
      'Gatehouse support has not confirmed it yet.',
    )
    const [, notice = ''] =
      /<div role="status">([\s\S]*?)<\/div>/.exec((await browser.send('GET', '/account/data')).text) ?? []
    expect(notice.match(/<p>/g), 'a paragraph each, with a space between').toHaveLength(2)
    const expected = [user, other].map(({ user_id }) => expect.objectContaining({ user_id, due_at: null }))
    expect(await requests()).toEqual(expected)
    await hers.send('POST', '/account/deletion/cancel', {})
    expect(await textOf(hers, '/account/data')).not.toContain('Keep my account')
    await client.admin('POST', '/users/erase', { cid: user.cid, user_id: user.user_id })
    expect(await requests()).toEqual([])
    const { rows } = await world.pool.query(
      "select event from audit_event where event like 'user_deletion%' and user_id = $1 order by at",
      [other.user_id],
    )
    expect(rows.map(({ event }) => event)).toEqual(['user_deletion_requested', 'user_deletion_cancelled'])
  })

  it('requires a sign-in within a quarter of an hour, like the download of all data; cancelling does not', async () => {
    const user = await client.makeUser()
    const browser = await client.signedIn(user, app)
    const requestDeletion = () => browser.send('POST', '/account/deletion', {})
    const requestCount = async () =>
      (await world.pool.query('select from deletion_request where user_id = $1', [user.user_id])).rowCount
    const download = () => browser.send('GET', '/account/data/person.json')
    world.clock.advance(899)
    expect((await download()).status).toBe(200)
    world.clock.advance(1)
    const again = (page: string) => `/sign-in?${new URLSearchParams({ return_to: page })}&confirm=1`
    for (const [refused, page] of [
      [await requestDeletion(), '/account/data#unsent'],
      [await download(), '/account/data'],
    ] as const)
      expect([refused.status, refused.headers.location]).toEqual([303, again(page)])
    expect(await requestCount()).toBe(0)
    const exports = "select from audit_event where event = 'user_exported' and user_id = $1"
    expect((await world.pool.query(exports, [user.user_id])).rowCount).toBe(1)
    expect(await textOf(browser, `${again('/account/data')}&ui_locales=en`)).toContain('Please sign in again')
    const { passport, password } = user
    await browser.send('POST', '/sign-in', { passport, password, return_to: '/account/data', confirm: '1' })
    expect((await requestDeletion()).headers.location).toBe('/account/data#deletion')
    expect(await requestCount()).toBe(1)
    world.clock.advance(3_600)
    await browser.send('POST', '/account/deletion/cancel', {})
    expect(await requestCount()).toBe(0)
  })

  it('that is due depends on the present setting, and a failing one does not block others', async () => {
    const { automatic, by, due } = await automaticWorld()
    const users = [await by.makeUser(), await by.makeUser(), await by.makeUser()]
    const theirs = await by.makeApp()
    for (const user of users) await (await by.signedIn(user, theirs)).send('POST', '/account/deletion', {})
    automatic.clock.advance(14 * 86_400)
    for (const ACCOUNT_DELETION of ['off', 'request'] as const)
      expect(await due({ config: { ...automatic.deps.config, ACCOUNT_DELETION } })).toEqual(NONE_DUE)
    await whenErased(automatic, 'user_credential', users[0]?.user_id ?? '', "raise exception 'no'")
    expect(await due()).toEqual({
      erased: 2,
      failed: 1,
      failures: [expect.objectContaining({ message: 'no' })],
    })
    await asBefore(automatic)
    automatic.clock.advance(1)
    expect(await due()).toEqual({ ...NONE_DUE, erased: 1 })
  })

  it('happens on the day that it is due, however many are due and however many fail', async () => {
    const { automatic, by, due } = await automaticWorld()
    const theirs = await by.makeApp()
    const user = await by.makeUser()
    await (await by.signedIn(user, theirs)).send('POST', '/account/deletion', {})
    automatic.clock.advance(14 * 86_400)
    await whenErased(automatic, 'user_profile', 'stuck-%', "raise exception 'no'")
    const stuck = Array.from({ length: 250 }, (_, n) => rowKeyOf({ cid: 1, user_id: `stuck-${n}` }))
    const rows = [stuck.map(({ routingKey }) => routingKey), stuck.map(({ userId }) => userId)]
    await automatic.pool.query(
      `insert into user_profile (routing_key, cid, user_id, name, gender, big_avatar_url, phone_number, status, created_at)
       select k, 1, u, 'Stuck', '0', 'https://img.example.com/a.png', '13900000000', 'active', now()
       from unnest($1::int[], $2::text[]) as stuck (k, u)`,
      rows,
    )
    await automatic.pool.query(
      `insert into deletion_request (routing_key, cid, user_id, requested_at, due_at)
       select k, 1, u, now(), '2026-01-01' from unnest($1::int[], $2::text[]) as stuck (k, u)`,
      rows,
    )
    const { erased, failed, failures } = await due()
    expect([erased, failed, failures.length]).toEqual([1, 250, 20])
  })

  it('waits for the next run after half an hour of erasures, and comes last once it has failed', async () => {
    const { automatic, by, due } = await automaticWorld()
    const theirs = await by.makeApp()
    const { db } = automatic.deps
    const shardOf = (user: User) => db.of(rowKeyOf(user).routingKey)
    const users: User[] = [] // of one shard, as each has its own half hour
    while (users.length < 3) {
      const user = await by.makeUser()
      if (shardOf(user) !== shardOf(users[0] ?? user)) continue
      users.push(user)
      await (await by.signedIn(user, theirs)).send('POST', '/account/deletion', {})
      automatic.clock.advance(1)
    }
    automatic.clock.advance(14 * 86_400)
    await whenErased(automatic, 'user_credential', users[0]?.user_id ?? '', "raise exception 'no'")
    const now = performance.now.bind(performance)
    let passed = 0
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => now() + passed)
    onTestFinished(() => clock.mockRestore())
    const of: typeof db.of = (routingKey) => {
      passed += 1_801_000
      return db.of(routingKey)
    }
    const runs: unknown[] = []
    for (let run = 0; run < 4; run++) {
      const { erased, failed } = await due({ db: { ...db, of } })
      runs.push({ erased, failed })
      automatic.clock.advance(3_600)
    }
    const [fails, succeeds] = [
      { erased: 0, failed: 1 },
      { erased: 1, failed: 0 },
    ]
    expect(runs).toEqual([fails, succeeds, succeeds, fails])
  })

  it('does not happen early to a person who cancels and requests again while the job is running', async () => {
    const { automatic, by, due } = await automaticWorld()
    const user = await by.makeUser()
    const browser = await by.signedIn(user, await by.makeApp())
    await browser.send('POST', '/account/deletion', {})
    automatic.clock.advance(14 * 86_400)
    const key = rowKeyOf(user)
    const now = automatic.clock.now()
    let erasing: Promise<unknown> | undefined
    await automatic.deps.db.of(key.routingKey).tx(async (db) => {
      await lockUser(db, key)
      erasing = due()
      await untilLocked(automatic.pool)
      await deleteRequest(db, key)
      await insertRequest(db, key, now, new Date(now.getTime() + 14 * 86_400_000))
    })
    expect(await erasing).toEqual(NONE_DUE)
    await by.admin('GET', `/users/${user.cid}/${user.user_id}`)
  })

  it('of a blocked person never happens automatically, as that would lift the block', async () => {
    const { automatic, by, due } = await automaticWorld()
    const theirs = await by.makeApp()
    const [before, after] = [await by.makeUser(), await by.makeUser()]
    const browsers = [await by.signedIn(before, theirs), await by.signedIn(after, theirs)] as const
    await browsers[0].send('POST', '/account/deletion', {})
    for (const user of [before, after]) await by.block(user)
    expect(await textOf(browsers[1], '/account/data?ui_locales=en')).not.toContain('It happens 14 days after you ask')
    await browsers[1].send('POST', '/account/deletion', {})
    automatic.clock.advance(14 * 86_400)
    for (const times of [1, 2]) expect(await due(), String(times)).toEqual(NONE_DUE)
    expect((await requests(by)).map(({ due_at }) => due_at)).toEqual([null, null])
  })

  it('happens automatically after 14 days if the setting says so, and is not offered if it is off', async () => {
    const { automatic, by, due } = await automaticWorld()
    const [user, other] = [await by.makeUser(), await by.makeUser()]
    const theirs = await by.makeApp()
    const browser = await by.signedIn(user, theirs)
    await browser.send('POST', '/account/deletion', {})
    const second = await by.signedIn(other, theirs)
    await second.send('POST', '/account/deletion', {})
    await second.send('POST', '/account/deletion/cancel', {})
    automatic.clock.advance(14 * 86_400 - 1)
    expect(await due()).toEqual(NONE_DUE)
    automatic.clock.advance(1)
    expect([await due(), await due()]).toEqual([{ ...NONE_DUE, erased: 1 }, NONE_DUE])
    await expect(by.admin('GET', `/users/${user.cid}/${user.user_id}`)).rejects.toThrow('404')
    await by.admin('GET', `/users/${other.cid}/${other.user_id}`)
    const { by: off } = await openForTest('off')
    const visitor = await off.signedIn(await off.makeUser(), await off.makeApp())
    expect((await visitor.send('POST', '/account/deletion', {})).status).toBe(404)
    expect(await textOf(visitor, '/account/data')).not.toContain('Delete my account')
  })
})
