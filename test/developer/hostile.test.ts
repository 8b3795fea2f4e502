import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Client, pkcePair } from '../acceptance/client.ts'
import { consentForm, visibleText } from '../acceptance/form.ts'
import { type Answer, header, injectWire } from '../acceptance/http.ts'
import { openWorld, type World } from '../harness.ts'
import { untilLocked } from '../locks.ts'
import {
  APP_FORM,
  clientOf,
  type Developer,
  founder,
  joined,
  memberIdOf,
  person,
  registered,
  tester,
  tokenFor,
} from '../teams/people.ts'
import { CLIENT_ID, CLIENT_SECRET, TestProvider } from '../upstream/provider.ts'

/** A hostile developer tries to reach real people with an unreviewed app, and to reach what belongs to another team. */

let world: World
let client: Client
let owner: Developer & { team: string }
let stranger: Developer & { team: string }
let appKey: string
beforeAll(async () => {
  world = await openWorld()
  client = clientOf(world)
  owner = await founder(world)
  stranger = await founder(world)
  appKey = await registered(owner, { kind: 'page', redirect_uris: 'http://localhost:8000/callback' })
})
afterAll(() => world?.close())

const LOCAL = 'http://localhost:8000/callback'
const standard = (more = {}, client_id = appKey) =>
  `/oauth2/authorize?${new URLSearchParams({
    ...{ client_id, redirect_uri: LOCAL, response_type: 'code', scope: 'openid profile', state: 's' },
    ...{ code_challenge: pkcePair().challenge, code_challenge_method: 'S256', ...more },
  })}`
const contract = () =>
  client.authorizePath(client.request({ app_key: appKey, app_secret: '', redirect_uri: LOCAL }, { scope: 'USER_INFO' }))
const seen = (answer: Answer) => visibleText(answer.text).replace(/\s+/g, ' ')
const CLOSED = 'This app is not open yet'
const grants = async () =>
  (await world.pool.query("select from user_grant where app_key = $1 and user_id not like 'test-%'", [appKey])).rowCount

describe('an app in development cannot reach real people', () => {
  it.each([
    ['prompt=none', { prompt: 'none' }],
    ['prompt=consent', { prompt: 'consent' }],
    ['response_mode=form_post', { response_mode: 'form_post' }],
    ['login_hint', { login_hint: 'person@example.com' }],
    ['max_age', { max_age: '1000' }],
  ])('with %s', async (_name, more) => {
    const { browser } = await person(world)
    const answer = await browser.send('GET', standard(more))
    expect(seen(answer)).toContain(CLOSED)
    expect(answer.headers.location).toBeUndefined()
  })

  it('with a pushed or posted request', async () => {
    const { browser } = await person(world)
    const query = new URL(standard(), 'http://x').searchParams
    const pushed = await client.call(
      'POST',
      '/oauth2/par',
      { 'content-type': 'application/x-www-form-urlencoded' },
      query.toString(),
    )
    const { request_uri = '' } = JSON.parse(pushed.text)
    expect(request_uri).toMatch(/^urn:/)
    const byUri = `/oauth2/authorize?${new URLSearchParams({ client_id: appKey, request_uri })}`
    expect(seen(await browser.open(byUri))).toContain(CLOSED)
    const posted = await browser.send('POST', '/oauth2/authorize', Object.fromEntries(query))
    const next = posted.headers.location ? await browser.open(String(posted.headers.location)) : posted
    expect(seen(next)).toContain(CLOSED)
  })

  it('through a remembered consent or an open form from a time when it was live', async () => {
    const { browser } = await person(world)
    const stage = (to: string) => world.pool.query('update micro_app set stage = $2 where app_key = $1', [appKey, to])
    await stage('live')
    const forms = [
      consentForm((await browser.open(contract())).text),
      consentForm((await browser.open(standard())).text),
    ]
    const approved = consentForm((await browser.open(standard())).text)
    if (!approved || !forms[0] || !forms[1]) throw new Error('no form')
    await browser.submit(approved, { decision: 'approve' })
    const before = await grants()
    await stage('development')
    for (const form of forms as NonNullable<(typeof forms)[number]>[]) {
      const answer = await browser.submit(form, { decision: 'approve' })
      expect(String(answer.headers.location ?? '')).not.toContain('code=')
    }
    expect(seen(await browser.open(standard({ prompt: 'none' })))).toContain(CLOSED)
    expect(await grants()).toBe(before)
  })

  it('by way of an operator: a live app cannot be moved back to development', async () => {
    const { app_key } = await client.makeApp()
    await expect(client.admin('PATCH', `/apps/${app_key}`, { stage: 'development' })).rejects.toThrow('stage')
    const { rows } = await world.pool.query('select stage from micro_app where app_key = $1', [app_key])
    expect(rows).toEqual([{ stage: 'live' }])
  })

  it('through its name on the sign-in page', async () => {
    const named = await registered(owner, { name: 'Your bank: call 0800 1234' })
    const query = client.authorizePath(
      client.request({ app_key: named, app_secret: '', redirect_uri: LOCAL }, { scope: 'USER_INFO' }),
    )
    for (const path of [query, standard({}, named)]) {
      const nobody = client.newBrowser()
      expect((await nobody.open(path)).text).not.toContain('Your bank')
      const { browser } = await person(world)
      expect((await browser.open(path)).text).not.toContain('Your bank')
    }
  })

  it('through a sign-in at the upstream provider', async () => {
    const provider = await TestProvider.open()
    const other = await openWorld({
      ...{ UPSTREAM_ISSUER: provider.issuer, UPSTREAM_CLIENT_ID: CLIENT_ID, UPSTREAM_CLIENT_SECRET: CLIENT_SECRET },
      ...{ UPSTREAM_CID: '5', PUBLIC_URL: 'http://127.0.0.1:8000' },
    })
    try {
      const there = new Client(injectWire(other.app), 'http://127.0.0.1:8000')
      other.clock.advance((Date.now() - other.clock.now().getTime()) / 1000)
      const { app_key } = await there.makeApp({ redirect_uris: [LOCAL] })
      await other.pool.query("update micro_app set stage = 'development' where app_key = $1", [app_key])
      const browser = there.newBrowser()
      const signIn = await browser.send('GET', standard({}, app_key))
      const asked = await browser.send('GET', header(signIn, 'location'))
      const back = provider.code(new URL(header(asked, 'location')), { sub: 'p-1' })
      const goOn = await browser.send('GET', back.pathname + back.search)
      expect(seen(await browser.open(header(goOn, 'location')))).toContain(CLOSED)
    } finally {
      await other.close()
      await provider.close()
    }
  })
})

describe('an app that an operator is just putting live', () => {
  it('is not changed by a form its team sent meanwhile', async () => {
    const made = await registered(owner)
    const holder = await world.pool.connect()
    try {
      await holder.query('begin')
      await holder.query("update micro_app set stage = 'live' where app_key = $1", [made])
      const editing = owner.browser.send('POST', `/developer/apps/${made}/edit`, { ...APP_FORM, name: 'Unseen' })
      await untilLocked(world.pool)
      await holder.query('commit')
      expect((await editing).status).toBe(409)
    } finally {
      holder.release()
    }
    const { rows } = await world.pool.query('select name from micro_app where app_key = $1', [made])
    expect(rows).toEqual([{ name: APP_FORM.name }])
  })
})

describe('a form that waits for a concurrent change of the team', () => {
  const removed = 'delete from team_member where member_id = $1'
  const demoted = "update team_member set role = 'developer' where member_id = $1"
  it.each<[string, string, (made: string) => [path: string, form: Record<string, string>], number]>([
    ['removed, about an app', removed, (made) => [`/developer/apps/${made}/edit`, APP_FORM], 404],
    ['made a developer, about an app', demoted, (made) => [`/developer/apps/${made}/request`, {}], 403],
    ['removed, about the team', removed, () => [`/developer/teams/${owner.team}/name`, { name: 'Taken' }], 404],
    [
      'made a developer, about the team',
      demoted,
      () => [`/developer/teams/${owner.team}/name`, { name: 'Taken' }],
      403,
    ],
  ])('is refused if its sender is meanwhile %s', async (_name, change, formOf, status) => {
    const made = await registered(owner)
    const { browser, memberId } = await joined(world, owner, 'owner')
    const rows = async () =>
      (
        await world.pool.query(
          'select a.updated_at, t.name, (select count(*) from app_request) from micro_app a, team t where app_key = $1 and team_id = $2',
          [made, owner.team],
        )
      ).rows
    const before = await rows()
    const holder = await world.pool.connect()
    try {
      await holder.query('begin')
      await holder.query('select from team where team_id = $1 for update', [owner.team])
      await holder.query(change, [memberId])
      const sending = browser.send('POST', ...formOf(made))
      await untilLocked(world.pool)
      await holder.query('commit')
      expect((await sending).status).toBe(status)
    } finally {
      holder.release()
    }
    expect(await rows()).toEqual(before)
  })
})

describe('data of another team', () => {
  it('is not found by its id under one’s own team', async () => {
    const member = await joined(world, owner)
    const mail = 'theirs@example.com'
    await owner.browser.send('POST', `/developer/teams/${owner.team}/invite`, { mail, role: 'developer' })
    const { rows } = await world.pool.query('select invitation_id as id from team_invitation where mail = $1', [mail])
    const mine = `/developer/teams/${stranger.team}`
    const theirs = [
      ...['remove', 'role'].map((what) => `${mine}/members/${member.memberId}/${what}`),
      ...['again', 'withdraw'].map((what) => `${mine}/invitations/${rows[0].id}/${what}`),
      `${mine}/members/x'/remove`,
      `${mine}/invitations/%00/again`,
    ]
    for (const path of theirs) {
      expect([path, (await stranger.browser.send('POST', path, { role: 'developer' })).status]).toEqual([path, 404])
    }
    expect(await memberIdOf(world, member, owner.team)).toBe(member.memberId)
    const after = await world.pool.query('select invitation_id as id from team_invitation where mail = $1', [mail])
    expect(after.rows).toEqual(rows)
  })

  it('is not shown among the failures of one’s own app by a request id', async () => {
    const { browser } = await person(world)
    await browser.send('GET', standard({}, appKey))
    const { rows } = await world.pool.query('select request_id as id from refused_request where app_key = $1 limit 1', [
      appKey,
    ])
    const mine = await registered(stranger)
    const answer = await stranger.browser.open(`/developer/apps/${mine}/failures?request_id=${rows[0]?.id}`)
    expect(answer.status).toBe(200)
    expect(answer.text).not.toContain('app_in_development')
  })

  it('is closed to test users, who cannot join a team by an invitation link', async () => {
    const browser = await tester(world, owner, await registered(owner))
    const mail = 'joining@example.com'
    await owner.browser.send('POST', `/developer/teams/${owner.team}/invite`, { mail, role: 'developer' })
    const token = await tokenFor(world, mail)
    expect((await browser.send('POST', '/developer/join', { token })).status).toBe(409)
  })

  it('is inaccessible to removed members, even through forms they had open', async () => {
    const made = await registered(owner)
    const { browser, memberId } = await joined(world, owner)
    expect((await browser.open(`/developer/apps/${made}/edit`)).status).toBe(200)
    await owner.browser.send('POST', `/developer/teams/${owner.team}/members/${memberId}/remove`, {})
    for (const path of ['edit', 'test-users', 'request', 'end-tokens', 'secret']) {
      expect((await browser.send('POST', `/developer/apps/${made}/${path}`, { ...APP_FORM })).status).toBe(404)
    }
    expect((await browser.open('/developer')).text).not.toContain(made)
  })
})
