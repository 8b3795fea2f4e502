import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { signIn } from '../../src/authorization/account/sign-in.ts'
import { ADMIN_TOKEN, openWorld, type World } from '../harness.ts'
import { addressOf, type Filled, fill, USER } from './filled.ts'
import { type Person, signedIn } from './person.ts'

/** What operators read on the pages of the console: words of their language, units, and what matters about a record. */

let world: World
let filled: Filled
let admin: Person
beforeAll(async () => {
  world = await openWorld({ PARTNER_ADDRESS_ALLOW: '127.0.0.1:8443,10.0.0.0/8,Seller.Internal,[fd00::/8]:8080' })
  filled = await fill(world)
  admin = (await signedIn(world, 'admin')).person
})
afterAll(() => world.close())

const ask = (path: string, payload?: object, method: 'POST' | 'GET' = payload ? 'POST' : 'GET') =>
  world.app.inject({
    method,
    url: `/admin/v1${path}`,
    headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
    ...(payload ? { payload } : {}),
  })

const PERSON = new URLSearchParams({ cid: String(USER.cid), user_id: USER.user_id })

/** The cells of a column, without markup. */
const cells = (html: string, label: string): string[] =>
  [...html.matchAll(new RegExp(`data-label="${label}">(.*?)</td>`, 'g'))].map(([, cell = '']) =>
    cell.replace(/<[^>]*>/g, ''),
  )

/** The value of a fact, without markup. */
const fact = (html: string, label: string): string | undefined =>
  new RegExp(`<dt[^>]*>${label}</dt>\\s*<dd[^>]*>([\\s\\S]*?)</dd>`)
    .exec(html)?.[1]
    ?.replace(/<[^>]*>/g, '')
    .trim()

/** The page in Chinese. */
const inChinese = async (url: string): Promise<string> =>
  (
    await world.app.inject({
      url,
      headers: { accept: 'text/html', 'accept-language': 'zh-CN', cookie: `gatehouse_operator=${admin.cookie}` },
    })
  ).body

describe('values are shown in words', () => {
  it('of sign-ins: how they ended, and how the person signed in', async () => {
    await ask('/users', {
      ...{ cid: 1, user_id: 'ada', passport: 'ada', password: 'long enough', name: 'Ada' },
      big_avatar_url: 'https://a.example/x.png',
    })
    await signIn(world.deps, { passport: 'ada', password: 'long enough', address: '192.0.2.1' })
    const page = '/console/users/sign-ins?cid=1&user_id=ada'
    expect(cells(await inChinese(page), '结果')).toEqual(['成功'])
    expect(cells(await inChinese(page), '登录方式')).toEqual(['密码'])
    expect(cells((await admin.get(page)).text, 'Outcome')).toEqual(['Succeeded'])
  })

  it('of what apps read', async () => {
    await world.pool.query(
      `insert into data_access (routing_key, cid, user_id, app_key, kind, hour, reads, last_at)
       select routing_key, cid, user_id, $1, kind, $2, 1, $2 from user_profile, unnest(array['phone', 'profile']) kind
       where user_id = $3`,
      [filled.app_key, world.clock.now(), USER.user_id],
    )
    expect(cells(await inChinese(`/console/users/accesses?${PERSON}`), '内容').sort()).toEqual(['手机号', '用户资料'])
  })

  it('of the states in the timeline of an order', async () => {
    const page = addressOf('/orders/:order_id', filled)
    expect(cells(await inChinese(page), '结果')).toContain('支付中 → 已支付')
    expect(cells((await admin.get(page)).text, 'Outcome')).toContain('Being paid → Paid')
  })

  it('of addresses in settings, as they are written', async () => {
    const { text } = await admin.get('/console/settings')
    expect(text).toContain('127.0.0.1:8443, 10.0.0.0/8, seller.internal, [fd00::/8]:8080')
  })
})

it('prices name their currency', async () => {
  const { text } = await admin.get(addressOf('/orders/:order_id', filled))
  expect(fact(text, 'Total \\(yuan\\)')).toBe('4')
  expect((await admin.get('/console/orders')).text).toContain('data-label="Total (yuan)"')
})

it('an empty list says that nothing matches only if something was looked for', async () => {
  expect((await admin.get('/console/keys')).text).toContain('<p class="none">None yet.</p>')
  expect((await admin.get('/console/apps?name=nobody')).text).toContain('<p class="none">Nothing matches the filter.')
})

it('the person is linked wherever a list names one', async () => {
  const { text } = await admin.get(`/console/grants?app_key=${filled.app_key}`)
  expect(text).toContain(`href="/console/users/user?${String(PERSON).replaceAll('&', '&amp;')}"`)
})

describe('the page of a person', () => {
  const requestedAt = async (who: Person) =>
    fact((await who.get(addressOf('/users/user', filled))).text, 'Asked for deletion')

  it('says when the person asked for deletion, to those who may decide on it', async () => {
    expect(await requestedAt(admin)).toBe('–')
    await world.pool.query(
      `insert into deletion_request (routing_key, cid, user_id, requested_at)
       select routing_key, cid, user_id, $1 from user_profile where user_id = $2`,
      [world.clock.now(), USER.user_id],
    )
    expect(await requestedAt(admin)).toMatch(/^20\d\d-\d\d-\d\d .* UTC$/)
    expect(await requestedAt((await signedIn(world, 'viewer')).person)).toBeUndefined()
  })
})

describe('a change is offered only where it changes something', () => {
  it('calls to a partner can be resumed only while they are paused', async () => {
    const page = addressOf('/partners/:partner_id', filled)
    expect((await admin.get(page)).text).not.toContain('/reset-breaker')
    await world.pool.query(
      `insert into partner_circuit (partner_id, process, opened_at, retry_at)
       values ($1, gen_random_uuid(), $2, $2::timestamptz + interval '30 s')`,
      [filled.partner_id, world.clock.now()],
    )
    expect((await admin.get(page)).text).toContain('/reset-breaker')
  })

  it('a job that has failed can only be retried; its page says what it should have done', async () => {
    const page = `/console/jobs/${filled.job_id}`
    expect((await admin.get('/console/jobs')).text).toContain(`href="${page}"`)
    const { text } = await admin.get(page)
    expect([fact(text, 'Task'), fact(text, 'State')]).toEqual(['pull-due', 'Failed'])
    expect(text).toContain(`${page}/retry"`)
    expect(text).not.toContain('/give-up"')
    expect(await admin.submit(`${page}/retry`)).toMatchObject({ status: 303, location: '/console/jobs?done=1' })
    expect((await admin.get(page)).text).toMatch(/class="button second danger" href="[^"]*\/give-up"/)
  })
})

it('a new team shows that its owner is invited', async () => {
  await ask('/teams', { name: 'Newcomers', mail: 'owner@example.com' })
  const { text } = await admin.get('/console/teams?name=Newcomers')
  expect(cells(text, 'Open invitations')).toEqual(['1'])
})

describe('the page of a team', () => {
  const ownerAt = 'owner.again@example.com'
  let page = ''
  beforeAll(async () => {
    const { team_id } = (await ask('/teams', { name: 'Harbour', mail: ownerAt })).json().data
    page = `/console/teams/${team_id}`
    await ask(`/apps/${filled.app_key}/give`, { team_id })
  })

  it('is linked from the list and from its app, and shows members, invitations and apps', async () => {
    expect((await admin.get('/console/teams?name=Harbour')).text).toContain(`href="${page}"`)
    expect((await admin.get(`/console/apps/${filled.app_key}`)).text).toContain(`href="${page}"`)
    const { text } = await admin.get(page)
    expect(fact(text, 'Name')).toBe('Harbour')
    expect(cells(text, 'Email')).toEqual([ownerAt])
    expect(text).toContain(`href="/console/apps/${filled.app_key}"`)
    expect((await admin.get('/console/teams/none')).status).toBe(404)
  })

  it('hides addresses from viewers, who cannot send an invitation again', async () => {
    const { text } = await (await signedIn(world, 'viewer')).person.get(page)
    expect(cells(text, 'Email')).toEqual(['o***@example.com'])
    expect(text).not.toContain('Send again')
  })

  it('sends an invitation again, with a new link', async () => {
    const links = async () =>
      (await world.pool.query('select link_id from team_invitation where mail = $1', [ownerAt])).rows
    const [before] = await links()
    const [, again = ''] = /href="([^"]+\/send)"/.exec((await admin.get(page)).text) ?? []
    expect((await admin.submit(again)).location).toBe(`${page}?done=1`)
    expect((await links())[0]).not.toEqual(before)
  })
})
