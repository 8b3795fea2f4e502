import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { recordAudit } from '../../src/platform/audit/index.ts'
import { isChanged, settingInForce } from '../../src/platform/config/actions.ts'
import { enqueue } from '../../src/platform/db/jobs-store.ts'
import { addSeconds } from '../../src/platform/lib/clock.ts'
import { gatehouse } from '../cli-runner.ts'
import { ADMIN_TOKEN, openWorld, SECRET_KEY, type World } from '../harness.ts'
import { addressOf, type Filled, fill, HOSTILE, USER } from './filled.ts'
import { type Person, signedIn } from './person.ts'

/** What a viewer sees on the page of an order, in the search, in the settings and on the home page. */

let world: World
let filled: Filled
let viewer: Person
beforeAll(async () => {
  world = await openWorld({ SMTP_URL: 'smtp://mailer:hunter2@localhost:25', MAIL_FROM: 'Gatehouse <a@example.com>' })
  filled = await fill(world)
  viewer = (await signedIn(world, 'viewer')).person
})
afterAll(() => world.close())

const one = async (query: string) => (await world.pool.query(query)).rows[0]

it('an order shows its states and calls in one list', async () => {
  const page = await viewer.get(addressOf('/orders/:order_id', filled))
  expect(page.text).toContain('Order: 88001')
  expect(page.text).toContain('Being paid → Paid')
  expect(page.text).toContain('Platform → partner: Order query')
})

it('an error of several lines is shown as one line', async () => {
  await world.pool.query("update graphile_worker._private_jobs set last_error = E'first line\\nsecond line'")
  expect((await viewer.get('/console/jobs')).text).toContain('first line second line')
})

describe('the search', () => {
  it('finds micro-apps and partners by name, and people only for support', async () => {
    const query = encodeURIComponent(HOSTILE.slice(0, 20).toUpperCase())
    const found = async (who: Person) => (await who.get(`/console/search?q=${query}`)).text
    const ofViewer = await found(viewer)
    expect(ofViewer).toContain(`href="/console/apps/${filled.app_key}"`)
    expect(ofViewer).toContain(`href="/console/partners/${filled.partner_id}"`)
    await world.pool.query("update user_profile set name = 'Zhang Wei'")
    expect((await viewer.get('/console/search?q=zhang')).text).toContain('Nothing was found')
    const support = (await signedIn(world, 'support')).person
    expect((await support.get('/console/search?q=zhang')).location).toMatch('/console/users/user?cid=7')
  })

  it('finds teams by name and id, and operators only for admins', async () => {
    const { team_id } = filled
    await world.pool.query("update team set name = 'Harbour Tours'")
    for (const query of ['harbour', team_id])
      expect((await viewer.get(`/console/search?q=${query}`)).location, query).toBe(`/console/teams/${team_id}`)
    const { person, name } = await signedIn(world, 'admin')
    expect((await person.get(`/console/search?q=${name.toUpperCase()}`)).location).toBe(`/console/operators/${name}`)
    expect((await viewer.get(`/console/search?q=${name}`)).text).toContain('Nothing was found')
  })

  it('redirects to the only match, or lists all matches', async () => {
    expect((await viewer.get('/console/search?q=88001')).location).toBe('/console/orders/88001')
    expect((await viewer.get(`/console/search?q=${filled.app_key}`)).location).toBe(`/console/apps/${filled.app_key}`)
    const { client_id } = await one('select client_id from partner')
    expect((await viewer.get(`/console/search?q=${client_id}`)).location).toBe(`/console/partners/${filled.partner_id}`)
    const { request_id } = await one("select request_id from audit_event where event = 'app_created' limit 1")
    expect((await viewer.get(`/console/search?q=${request_id}`)).location).toBe(`/console/requests/${request_id}`)
    const hits = async (who: Person) => (await who.get('/console/search?q=%22%3E%3Cimg')).text
    const support = (await signedIn(world, 'support')).person
    expect(await hits(support)).toContain('/console/users/user?cid=7') // by the passport
    expect(await hits(viewer)).not.toContain('/console/users/user')
    for (const who of [support, viewer]) expect(await hits(who)).toContain('/console/orders/88001')
    expect((await viewer.get('/console/search?q=nothing-like-it%00')).text).toContain('Nothing was found')
  })
})

describe('a record that lists and the audit log name by its id', () => {
  it('is found by that id', async () => {
    const { partner_id } = filled
    expect((await viewer.get(`/console/search?q=${partner_id}`)).location).toBe(`/console/partners/${partner_id}`)
    const user = new URLSearchParams({ q: `${USER.cid}/${USER.user_id}` })
    expect((await viewer.get(`/console/search?${user}`)).location).toMatch('/console/users/user?cid=7&user_id=a%2Fb')
    for (const nobody of ['7/nobody', '99999999999/x', '424242'])
      expect((await viewer.get(`/console/search?q=${nobody}`)).text, nobody).toContain('Nothing was found')
  })

  it('is linked from the audit log', async () => {
    const { text } = await viewer.get('/console/audit')
    for (const page of [
      `/console/apps/${filled.app_key}`,
      `/console/partners/${filled.partner_id}`,
      '/console/users/user?cid=7&amp;user_id=a%2Fb',
    ])
      expect(text, page).toContain(`data-label="Target"><a href="${page}`)
  })
})

it('the search shows five matches of a kind, and links to all of them', async () => {
  for (let n = 0; n < 6; n++) {
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}` }
    const payload = { name: `Many & more ${n}`, hosts: ['a.example'], scopes: ['USER_INFO'] }
    await world.app.inject({ method: 'POST', url: '/admin/v1/apps', headers, payload })
  }
  const { text } = await viewer.get('/console/search?q=Many%20%26')
  expect(text.match(/>Many &amp; more \d/g)).toHaveLength(5)
  expect(text).toContain('<a href="/console/apps?name=Many+%26">Show all matches</a>')
  expect((await viewer.get('/console/apps?name=Many+%26')).text.match(/>Many &amp; more \d/g)).toHaveLength(6)
})

it('a page beside that of a record leads back to it', async () => {
  const about = new URLSearchParams({ cid: String(USER.cid), user_id: USER.user_id })
  const { text } = await viewer.get(`/console/users/factors?${about}`)
  expect(text).toContain(`<a href="/console/users/user?${about.toString().replace('&', '&amp;')}">`)
})

describe('settings', () => {
  it('are shown without their secrets', async () => {
    const { text } = await viewer.get('/console/settings')
    expect(text).toContain('PAGES_PER_MINUTE')
    expect(text).toMatch(/>SESSION_LIFETIME_S<[\s\S]*?data-label="Unit">seconds<[\s\S]*?life of a browser session/)
    expect(text.indexOf('>SMTP_URL<')).toBeLessThan(text.indexOf('>AUDIT_DAYS<')) // changed settings come first
    for (const secret of [SECRET_KEY, ADMIN_TOKEN, 'hunter2', new URL(world.databaseUrl).password || SECRET_KEY]) {
      expect(text).not.toContain(secret)
    }
  })

  it.each([
    ['SECRET_KEYS_OLD', ['one', 'two'], null, true],
    ['SECRET_KEYS_OLD', [], null, false],
    ['SECURITY_CONTACT', [], null, false],
    ['DATABASE_URL', 'postgres://user:word@host/name', 'postgres://***@host/name', false],
    ['ACCESS_TOKEN_LIFETIME_S', 604_800, 604_800, false],
    ['SMTP_URL', undefined, null, false],
    ['PASSWORD_RESET', 'mail', 'mail', false],
    ['PASSWORD_RESET_HOOK', 'https://hook.example/abc', null, true],
  ])('hide secrets and passwords in URLs: %s', (name, given, value, secret) => {
    expect(settingInForce(name, given)).toEqual({ name, value, secret })
  })

  it('count as changed if they differ from their default', () => {
    const isChangedTo = (name: string, value: string) => isChanged(settingInForce(name, value))
    expect([isChangedTo('PASSWORD_RESET', 'mail'), isChangedTo('PASSWORD_RESET', 'off')]).toEqual([true, false])
    expect([isChangedTo('SECRET_KEY', 'x'), isChangedTo('LOG_LEVEL', 'info')]).toEqual([true, false])
  })

  it('are shown without secrets over HTTP and on the command line too', async () => {
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}` }
    const { settings } = (await world.app.inject({ url: '/admin/v1/settings', headers })).json().data
    expect(settings).toContainEqual({ name: 'ADMIN_TOKEN', value: null, secret: true })
    expect(settings).toContainEqual({
      name: 'SMTP_URL',
      value: expect.stringMatching(/^smtp:..\*{3}@localhost:25/),
      secret: false,
    })
    const { stdout } = await gatehouse({ DATABASE_URL: world.databaseUrl, SECRET_KEY }, 'settings')
    expect(stdout).toMatch(/^PAGES_PER_MINUTE +\d+ +yes$/m)
    expect(stdout).toMatch(/^SECRET_KEY +set, not shown +yes$/m)
    expect(stdout).toMatch(/^MIGRATE +on +no$/m) // written as in the environment
    for (const order of [stdout, JSON.stringify(settings)]) {
      expect(order.indexOf('SMTP_URL')).toBeLessThan(order.indexOf('AUDIT_DAYS'))
    }
    expect(`${stdout}${JSON.stringify(settings)}`).not.toMatch(new RegExp(`hunter2|${SECRET_KEY}|${ADMIN_TOKEN}`))
  })
})

it('the home page shows the requests that wait for a decision, and since when', async () => {
  await world.pool.query(
    "insert into deletion_request select routing_key, cid, user_id, '2026-01-02T03:04:05Z' from user_profile limit 1",
  )
  const ofViewer = (await viewer.get('/console')).text
  expect(ofViewer).toMatch(
    /Requests of developers<\/dt><dd><a href="\/console\/app-requests"[^>]*>1<[\s\S]*?oldest since <time/,
  )
  expect(ofViewer).not.toContain('Deletion requests')
  const { text } = await (await signedIn(world, 'support')).person.get('/console')
  expect(text).toMatch(
    /Deletion requests<\/dt><dd><a href="\/console\/users\/deletion-requests"[^>]*>1<[\s\S]*?oldest since <time datetime="2026-01-02T/,
  )
})

it('the home page shows unfinished and failed jobs, and since when the oldest is due', async () => {
  const seen = async () => {
    const { text } = await viewer.get('/console')
    const [, unfinished, since] =
      /Unfinished jobs<\/dt><dd><a href="\/console\/jobs"[^>]*>([\d,]+)<[\s\S]*?oldest due <time datetime="([^"]+)"/.exec(
        text,
      ) ?? []
    const [, failed] =
      /Failed jobs<\/dt><dd[^>]*><a href="\/console\/jobs\?failed=true"[^>]*>([\d,]+)</.exec(text) ?? []
    return { unfinished: Number(unfinished), since, failed: Number(failed) }
  }
  const due = async (key: string, afterS: number): Promise<string> => {
    await enqueue(world.deps.db, 'pull-due', {}, { key, afterS })
    return (await one(`select run_at from graphile_worker.jobs where key = '${key}'`)).run_at.toISOString()
  }
  const first = await due('home-1', -86_400)
  const before = await seen()
  expect(before.since).toBe(first)
  expect(before.failed).toBeGreaterThan(0)
  const second = await due('home-2', -86_340)
  expect(await seen()).toEqual({ ...before, unfinished: before.unfinished + 1 })
  const { id } = await one("select id from graphile_worker.jobs where key = 'home-1'")
  await world.pool.query("select graphile_worker.permanently_fail_jobs(array[$1::bigint], 'no')", [id])
  expect(await seen()).toEqual({
    unfinished: before.unfinished,
    since: second,
    failed: before.failed + 1,
  })
})

it('the home page shows calls, and partners that are currently not called', async () => {
  await world.pool.query('insert into partner_circuit values ($1, gen_random_uuid(), $2, $3)', [
    ...[filled.partner_id, world.clock.now(), addSeconds(world.clock.now(), 30)],
  ])
  for (const [minutes, failure] of [
    [58, 'timeout'],
    [2, null],
    [1, null],
    [61, null],
  ] as const) {
    await world.pool.query(
      `insert into partner_call (call_id, partner_id, interface, started_at, duration_ms, url, request_headers, request_body, cause, failure)
       values (gen_random_uuid(), $1, 'order-query', $2::timestamptz - $3 * interval '1 minute', 5, 'https://a.example', '{}', '{}', 'schedule', $4)`,
      [filled.partner_id, world.clock.now(), minutes, failure],
    )
  }
  const { text } = await viewer.get('/console')
  expect(text).toContain(`/console/partners/${filled.partner_id}`)
  expect(text).toContain('4 calls, 2 of them failed')
  expect(text).toMatch(/<rect class="failed" x="2" y="53" width="16" height="27"\/>/)
  expect(text).toContain('<rect class="all" x="222" y="0" width="16" height="53"/><rect class="failed" x="222" y="53"')
})

it('the page of a partner shows since when it is not called, and the next attempt', async () => {
  const path = addressOf('/partners/:partner_id', filled)
  const called = await world.pool.query('delete from partner_circuit where partner_id = $1', [filled.partner_id])
  expect(called.rowCount).toBe(1)
  expect((await viewer.get(path)).text).not.toContain('Not called since')
  await world.pool.query('insert into partner_circuit values ($1, gen_random_uuid(), $2, $3)', [
    ...[filled.partner_id, new Date('2026-01-02T03:04:05Z'), addSeconds(world.clock.now(), 30)],
  ])
  const { text } = await viewer.get(path)
  expect(text).toMatch(/<dt>Not called since<\/dt><dd[^>]*><time[^>]*>2026-01-02 03:04:05 UTC</)
  expect(text).toContain('<dt>Next attempt</dt>')
})

it('the home page shows the requests of the last hour, by minute and outcome', async () => {
  const asked = async () => {
    const { text } = await viewer.get('/console')
    const [, requests = '', refused = ''] = /([\d,]+) requests of all kinds: ([\d,]+) refused/.exec(text) ?? []
    return { requests: Number(requests.replace(',', '')), refused: Number(refused.replace(',', '')) }
  }
  const before = await asked()
  await viewer.get('/console/nowhere')
  await viewer.get('/console/apps')
  const after = await asked()
  expect([after.requests - before.requests, after.refused - before.refused]).toEqual([3, 1])
  world.clock.advance(29 * 60) // a session ends after half an hour without a request
  expect((await asked()).requests).toBe(after.requests + 1)
  world.clock.advance(29 * 60)
  expect((await asked()).requests).toBe(after.requests + 2)
  world.clock.advance(29 * 60)
  expect((await asked()).requests).toBe(3) // the last three views, as each is recorded at the time of the next
})

it('the home page counts failed sign-ins of operators, users and partners, and links to them', async () => {
  const anHourAgo = addSeconds(world.clock.now(), -3_600)
  await recordAudit(
    { ...world.deps, clock: { ...world.clock, now: () => anHourAgo } },
    { event: 'user_sign_in_failed' },
  )
  for (const [event, times] of [
    ['user_sign_in_failed', 3],
    ['user_sign_in_locked', 1],
    ['operator_sign_in_failed', 2],
    ['user_signed_in', 9],
  ] as const) {
    for (let n = 0; n < times; n++) await recordAudit(world.deps, { event })
  }
  const { text } = await viewer.get('/console')
  expect(text).toMatch(/Operators: 2<[\s\S]*Users: 4<[\s\S]*Partners: 0</)
  const link = /href="([^"]*action=user_sign_in_[^"]*)">Users: 4</.exec(text)?.[1]?.replaceAll('&amp;', '&')
  expect((await viewer.get(String(link))).text.match(/>User sign in \w+</g)).toHaveLength(4)
  expect((await viewer.get('/console?ui_locales=zh-CN')).text).toContain('用户：4')
})

it('each chart has a legend', async () => {
  const { text } = await viewer.get('/console')
  const legends = [...text.matchAll(/<ul class="legend">([\s\S]*?)<\/ul>/g)].map(([, items = '']) =>
    [...items.matchAll(/<rect class="(\w+)"[\s\S]*?<\/svg> (\w+)</g)].map(([, kind, said]) => [kind, said]),
  )
  const [answered, refused, failed] = [
    ['all', 'Answered'],
    ['refused', 'Refused'],
    ['failed', 'Failed'],
  ]
  expect(legends).toEqual([
    [answered, refused, failed],
    [answered, failed],
  ])
})

it('many former hosts hide no certificate on the home page; more than it names are in the list', async () => {
  const certificates = (origin: string, urls: boolean) =>
    world.pool.query(
      `with hosts as (
         select 'https://' || $3 || n || '.example' as origin, n from generate_series(1, 21) n
       ), urls as (
         update partner set interface_urls = interface_urls || (select jsonb_object_agg('x' || n, origin) from hosts)
         where $4 and partner_id = $1
       )
       insert into partner_certificate (partner_id, origin, ends_at, seen_at)
       select $1, origin, $2::timestamptz + n * interval '1 minute', $2 from hosts`,
      [filled.partner_id, world.clock.now(), origin, urls],
    )
  const { interface_urls } = await one('select interface_urls from partner')
  await certificates('former', false)
  await world.pool.query("update partner_certificate set ends_at = $1 where origin = 'https://evil.example'", [
    addSeconds(world.clock.now(), 86_400),
  ])
  const { text } = await viewer.get('/console')
  expect(text).toContain('https://evil.example expires on')
  expect(text).not.toContain('former1.example')
  expect(text).not.toContain('Show all')
  await certificates('present', true)
  expect((await viewer.get('/console')).text).toMatch(
    /present20\.example expires on[\s\S]*?<a href="\/console\/partners\/certificates\?within_days=30">Show all</,
  )
  await world.pool.query("delete from partner_certificate where origin ~ 'former|present'")
  await world.pool.query('update partner set interface_urls = $1', [interface_urls])
})

it('the home page warns of expiring certificates of partners, but not of their former hosts', async () => {
  await world.pool.query(
    `insert into partner_certificate (partner_id, origin, ends_at, seen_at)
     select $1, origin, $2::timestamptz + days * interval '1 day', $2
     from (values ('https://evil.example', -2), ('https://former.example', 1)) as v (origin, days)
     on conflict (partner_id, origin) do update set ends_at = excluded.ends_at`,
    [filled.partner_id, world.clock.now()],
  )
  const { text } = await viewer.get('/console')
  expect(text).toContain('https://evil.example expired on <time datetime="2026-05-04T')
  expect(text).not.toContain('former.example')
  await world.pool.query("update partner_certificate set ends_at = ends_at + interval '31 days'")
  expect((await viewer.get('/console')).text).toContain('https://evil.example expires on <time datetime="2026-06-04T')
  await world.pool.query("update partner_certificate set ends_at = ends_at + interval '31 days'")
  expect((await viewer.get('/console')).text).not.toContain('https://evil.example expires on')
})
