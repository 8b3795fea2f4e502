import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { purge } from '../../src/operations/jobs/purge.ts'
import type { Browser } from '../acceptance/browser.ts'
import { type App, Client, dataOf, envelopeOf, type User } from '../acceptance/client.ts'
import { expectFailure } from '../acceptance/expectations.ts'
import { visibleText } from '../acceptance/form.ts'
import { header, injectWire } from '../acceptance/http.ts'
import { openWorld, type World } from '../harness.ts'
import { untilLocked } from '../locks.ts'
import { StandardApp } from '../oidc/app.ts'

/** The pages on which a person sees which apps use the account, and withdraws their access. */

let world: World
let client: Client
let app: App
let user: User
beforeAll(async () => {
  world = await openWorld()
  client = new Client(injectWire(world.app), world.deps.config.PUBLIC_URL)
  app = await client.makeApp({ name: 'Star & Theatre', redirect_uris: ['https://app.example.com/callback'] })
  user = await client.makeUser()
})
afterAll(() => world?.close())

const textOf = async (browser: Browser, path: string) =>
  visibleText((await browser.open(path)).text).replace(/\s+/g, ' ')

describe('the apps of a person', () => {
  it('are shown with host, scopes in words, start of access, and counts and times of reads', async () => {
    const [someone, other] = [await client.makeUser(), await client.makeUser()]
    const ended = await client.makeApp({ name: 'Yesterday' })
    const browser = await client.signedIn(someone, app)
    expect(await textOf(browser, '/account?ui_locales=en')).toContain('No app uses your account.')
    const yesterday = await client.getTokens(browser, ended)
    dataOf(await client.userInfo(yesterday.access_token))
    await client.withdraw(someone)
    const { access_token } = await client.getTokens(browser, app)
    for (let n = 0; n < 12; n++) dataOf(await client.phone(access_token))
    // Nothing is flushed by hand: the page includes what this process has counted.
    const page = await textOf(browser, '/account')
    expect(page).toContain('Star & Theatre app.example.com')
    expect(page).toContain('Can see Your basic information, Your phone number')
    expect(page).toContain('Since 2026-05-06 10:34:20 UTC')
    expect(page).toContain('Has read Your phone number 12 times, last on 2026-05-06 10:34:20 UTC')
    expect(page).toMatch(
      /lost access in the last year Y ?Yesterday Lost access on 2026-05-06 .* Your basic information once, last/,
    )
    const chinese = await textOf(browser, '/account?ui_locales=zh-CN')
    expect(chinese).toContain('可以了解 您的基本信息、您的手机号码')
    expect(chinese).toContain('您的手机号码 12 次，最近一次： 2026-05-06 10:34:20 UTC')
    const otherTokens = await client.signedIn(other, app)
    expect(await textOf(otherTokens, '/account?ui_locales=en')).toContain('No app uses your account.')
  })

  it('are never said to have read nothing while recent reads may not have been written', async () => {
    const someone = await client.makeUser()
    const browser = await client.signedIn(someone, app)
    await client.getTokens(browser, app)
    for (const path of ['/account?ui_locales=en', '/account/reads'])
      expect(await textOf(browser, path)).toContain('Reads of the last minute may still be being written.')
    expect(await textOf(browser, '/account')).toContain(
      'Nothing so far. Reads of the last minute are still being written.',
    )
  })

  it('are listed fifty a page, those without access last', async () => {
    const someone = await client.makeUser()
    const browser = await client.signedIn(someone, app)
    await client.getTokens(browser, app)
    await world.pool.query(
      `insert into user_grant (routing_key, grant_id, cid, user_id, app_key, scopes, created_at, revoked_at)
       select g.routing_key, gen_random_uuid(), g.cid, g.user_id, 'many-' || n, g.scopes, g.created_at - n * interval '1 s',
         case when n > 40 then g.created_at end
       from user_grant g, generate_series(1, 60) n where g.user_id = $1`,
      [someone.user_id],
    )
    const pages = []
    for (const page of [1, 2]) pages.push((await browser.open(`/account?page=${page}`)).text)
    expect(pages.map((text) => text.match(/<article class="card app">/g)?.length ?? 0)).toEqual([41, 0])
    expect(pages.map((text) => text.match(/many-\d+<\/strong>/g)?.length ?? 0)).toEqual([9, 11])
    expect(pages[0]).toContain('href="/account?page=2"')
    expect(pages[1]).toContain('href="/account?page=1"')
    expect(pages[1]).not.toMatch(/page=3|No app uses your account/)
    const withdrawn = await browser.open('/account?withdrawn=many-60')
    expect(visibleText(withdrawn.text)).toContain('many-60')
  })

  it('have their reads listed by day, with a page for each earlier month', async () => {
    const someone = await client.makeUser()
    const browser = await client.signedIn(someone, app)
    const { access_token } = await client.getTokens(browser, app)
    for (let n = 0; n < 3; n++) dataOf(await client.userInfo(access_token))
    const page = await textOf(browser, '/account/reads?ui_locales=en')
    expect(page).toContain(
      '2026-05-06 (UTC) S Star & Theatre Your basic information 3 times, last on 2026-05-06 10:34:20 UTC',
    )
    expect(page).not.toContain('Older')
    await world.pool.query(
      "update data_access set hour = '2026-03-01T23:00:00Z', last_at = '2026-03-01T23:30:00Z' where user_id = $1",
      [someone.user_id],
    )
    expect(await textOf(browser, '/account/reads')).toContain('Nothing so far. Older')
    expect(await textOf(browser, '/account/reads?before=2026-04-06')).toContain('Nothing in that month. Older')
    expect(await textOf(browser, '/account/reads?before=2026-03-06')).toContain('2026-03-01 (UTC) S Star & Theatre')
    expect((await browser.open('/account/reads?before=0000-00-00')).status).toBe(200)
  })
})

describe('the days of reads', () => {
  const daysOn = async (browser: Browser, zone: string, path = '/account/reads?ui_locales=en') => {
    browser.cookies.set('gatehouse_time_zone', encodeURIComponent(zone))
    const { status, text } = await browser.open(path)
    expect(status).toBe(200)
    return [...text.matchAll(/<h2 id="day-[^>]*>([^<]+)/g)].map(([, day]) => day)
  }

  it('are days in the viewer’s time zone', async () => {
    const someone = await client.makeUser()
    const browser = await client.signedIn(someone, app)
    await world.pool.query(
      `insert into data_access (routing_key, cid, user_id, hour, app_key, kind, reads, last_at)
       select routing_key, cid, user_id, date_trunc('hour', at::timestamptz), $1, 'phone', 1, at::timestamptz
       from user_profile, unnest(array['2026-05-05T15:59:59Z', '2026-05-05T16:00:00Z', '2026-05-05T18:31:00Z',
         '2026-04-06T02:00:00Z', '2026-04-06T05:00:00Z']) as at
       where user_id = $2`,
      [app.app_key, someone.user_id],
    )
    expect(await daysOn(browser, 'UTC')).toEqual(['2026-05-05', '2026-04-06'])
    expect(await daysOn(browser, 'Asia/Shanghai')).toEqual(['2026-05-06', '2026-05-05', '2026-04-06'])
    expect(await daysOn(browser, 'Asia/Kolkata')).toEqual(['2026-05-06', '2026-05-05', '2026-04-06'])
    const page = await textOf(browser, '/account/reads')
    expect(page).toMatch(/2026-05-06 .* once, last on 2026-05-05 18:31:00 UTC/)
    expect(await daysOn(browser, 'America/New_York')).toEqual(['2026-05-05', '2026-04-06'])
    expect(await daysOn(browser, 'America/New_York', '/account/reads?before=2026-04-06')).toEqual(['2026-04-05'])
    for (const unknown of ['Nowhere/City', '+08:00; drop', '%', 'x'.repeat(500)])
      expect(await daysOn(browser, unknown)).toEqual(['2026-05-05 (UTC)', '2026-04-06 (UTC)'])
    for (const before of ['0001-01-01', '9999-12-31', '1969-12-31'])
      expect((await browser.open(`/account/reads?before=${before}`)).status).toBe(200)
  })
})

describe('the data of a person', () => {
  it('are listed by kind and can be downloaded by the person, which is audited', async () => {
    const browser = await client.signedIn(user, app)
    expect(await textOf(browser, '/account/data?ui_locales=en')).toContain('Browsers that are signed in 1')
    const file = await browser.open('/account/data/person.json')
    expect(header(file, 'content-disposition')).toContain('person.json')
    const data = JSON.parse(file.text)
    expect(data).toMatchObject({ cid: user.cid, user_id: user.user_id, sign_ins: [{ outcome: 'succeeded' }] })
    const { rows } = await world.pool.query(
      "select actor, actor_name from audit_event where event = 'user_exported' and user_id = $1",
      [user.user_id],
    )
    expect(rows).toEqual([{ actor: 'user', actor_name: `${user.cid}/${user.user_id}` }])
    const profile = await textOf(browser, '/account/profile')
    expect(profile).toContain(user.passport)
    expect(profile).toContain('13900000000')
  })
})

it.each(['/account', '/account/reads', '/account/data', '/account/security', '/account/profile'])(
  'leads anonymous visitors to the sign-in page and back: %s',
  async (path) => {
    const answer = await client.newBrowser().open(path)
    expect(answer.status).toBe(200)
    expect(answer.text).toContain(`name="return_to" value="${path}"`)
  },
)

describe('withdrawing', () => {
  const withdraw = (browser: Browser, of: App) =>
    browser.send('POST', '/account/apps/withdraw', { app_key: of.app_key })

  it('ends all grants of the person for the app at once, and nothing else', async () => {
    const [someone, other] = [await client.makeUser(), await client.makeUser()]
    const another = await client.makeApp({ name: 'Another' })
    const browser = await client.signedIn(someone, app)
    const [first, second] = [await client.getTokens(browser, app), await client.getTokens(browser, app)]
    const unspent = await client.getCode(browser, app)
    const kept = await client.getTokens(browser, another)
    const otherTokens = await client.getTokens(await client.signedIn(other, app), app)
    const answer = await withdraw(browser, app)
    expect([answer.status, header(answer, 'location')]).toEqual([303, `/account?withdrawn=${app.app_key}`])
    const page = await textOf(browser, `${header(answer, 'location')}&ui_locales=en`)
    expect(page).toContain('Star & Theatre no longer has access to your account.')
    expect(page).toContain('Lost access on 2026-05-06')
    for (const tokens of [first, second]) {
      expectFailure(await client.userInfo(tokens.access_token), { rescode: 20009 })
      expectFailure(await client.phone(tokens.access_token), { rescode: 20009 })
      expectFailure(await client.refresh(app, tokens.refresh_token), { rescode: 20006 })
    }
    expect(envelopeOf(await client.exchange(app, unspent)).rescode).not.toBe(0)
    dataOf(await client.userInfo(kept.access_token))
    dataOf(await client.userInfo(otherTokens.access_token))
  })

  it('repeatedly, as from two tabs, is audited once in the name of the person', async () => {
    const someone = await client.makeUser()
    const browser = await client.signedIn(someone, app)
    await client.getTokens(browser, app)
    const answers = await Promise.all([withdraw(browser, app), withdraw(browser, app), withdraw(browser, app)])
    expect(answers.map(({ status }) => status)).toEqual([303, 303, 303])
    expect((await withdraw(browser, app)).status).toBe(303)
    const { rows } = await world.pool.query(
      "select actor, actor_name, app_key, detail from audit_event where event = 'grant_withdrawn' and user_id = $1",
      [someone.user_id],
    )
    expect(rows).toEqual([
      { actor: 'user', actor_name: `${someone.cid}/${someone.user_id}`, app_key: app.app_key, detail: { grants: 1 } },
    ])
  })

  it('also ends tokens that are exchanged or refreshed concurrently', async () => {
    const someone = await client.makeUser()
    const browser = await client.signedIn(someone, app)
    for (let round = 0; round < Number(process.env.RACE_ROUNDS ?? 10); round++) {
      const tokens = await client.getTokens(browser, app)
      const codes = [await client.getCode(browser, app), await client.getCode(browser, app)]
      const [, ...answers] = await Promise.all([
        withdraw(browser, app),
        ...codes.map((code) => client.exchange(app, code)),
        ...Array.from({ length: 4 }, () => client.refresh(app, tokens.refresh_token)),
      ])
      const issued = answers.map(envelopeOf).filter(({ rescode }) => rescode === 0)
      for (const { data } of [...issued, { data: tokens as unknown as Record<string, unknown> }]) {
        expectFailure(await client.userInfo(String(data.access_token)), { rescode: 20009 })
        expectFailure(await client.refresh(app, String(data.refresh_token)), { rescode: 20006 })
      }
    }
  })

  it('makes concurrent silent requests ask for consent again', async () => {
    const someone = await client.makeUser()
    const rp = new StandardApp(client, app)
    const browser = client.newBrowser()
    await rp.tokens(browser, someone)
    const silent = { code_challenge: 'x'.repeat(43), code_challenge_method: 'S256' }
    expect((await browser.send('GET', rp.authorizeUrl(silent))).headers.location).toContain('code=')
    const withdrawing = await world.pool.connect()
    try {
      await withdrawing.query('begin')
      await withdrawing.query('select from user_profile where user_id = $1 for update', [someone.user_id])
      const answers = [rp.authorizeUrl(silent), rp.authorizeUrl({ ...silent, prompt: 'none' })].map((url) =>
        browser.send('GET', url),
      )
      await untilLocked(withdrawing)
      await withdrawing.query('delete from remembered_consent where user_id = $1', [someone.user_id])
      await withdrawing.query('commit')
      const [asked, refused] = await Promise.all(answers)
      expect(asked?.text).toContain('name="authorization_request"')
      expect(refused?.headers.location).toContain('error=consent_required')
    } finally {
      withdrawing.release()
    }
  })

  it('is refused for apps without a grant, unknown apps, and forms of another site', async () => {
    const browser = await client.signedIn(user, app)
    const stranger = await client.makeApp()
    for (const of of [
      stranger,
      { ...app, app_key: 'no-such-app' },
      { ...app, app_key: 'a\0b' },
      { ...app, app_key: '' },
    ])
      expect((await withdraw(browser, of)).status, of.app_key).toBeGreaterThanOrEqual(400)
    const paths = ['/account/apps/withdraw', '/account/sessions/end', '/account/sessions/end-others']
    for (const url of paths) {
      const headers = { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'cross-site' }
      const { statusCode } = await world.app.inject({ method: 'POST', url, headers, payload: 'session=x' })
      expect(statusCode, url).toBe(403)
    }
  })

  it('stays visible for a year, however old the grant was', async () => {
    const someone = await client.makeUser()
    const browser = await client.signedIn(someone, app)
    await client.getTokens(browser, app)
    await withdraw(browser, app)
    const daysAgo = (days: number) => new Date(world.clock.now().getTime() - days * 86_400_000)
    const shown = async (days: number) => {
      await world.pool.query('update user_grant set created_at = $2, revoked_at = $3 where user_id = $1', [
        someone.user_id,
        daysAgo(500),
        daysAgo(days),
      ])
      await purge(world.deps, {})
      return (await textOf(browser, '/account?ui_locales=en')).includes('Star & Theatre')
    }
    expect(await shown(364)).toBe(true)
    expect(await shown(366)).toBe(false)
  })
})
