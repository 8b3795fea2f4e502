import { afterAll, beforeAll, expect, it } from 'vitest'
import { GiveUp } from '../../src/operations/jobs/task.ts'
import { TASKS } from '../../src/operations/jobs/tasks.ts'
import type { Client } from '../acceptance/client.ts'
import { consentForm, visibleText } from '../acceptance/form.ts'
import { header } from '../acceptance/http.ts'
import { adminTokenHolder, COOKIE } from '../console/person.ts'
import { openWorld, type World } from '../harness.ts'
import { postOffice, reply } from '../sandbox/notify/post-office.ts'
import { APP_FORM, clientOf, type Developer, founder, joined, person, registered } from '../teams/people.ts'

/** Requests of teams for approval, and their decision by operators. */

let world: World
let client: Client
let owner: Developer & { team: string }
beforeAll(async () => {
  world = await openWorld()
  client = clientOf(world)
  owner = await founder(world, 'Ann')
})
afterAll(() => world?.close())

const seen = async (appKey: string) =>
  visibleText((await owner.browser.open(`/developer/apps/${appKey}`)).text).replace(/\s+/g, ' ')
const requestApproval = (appKey: string, by: Developer = owner) =>
  by.browser.send('POST', `/developer/apps/${appKey}/request`, {})
async function openRequest(appKey: string): Promise<string> {
  const { requests } = await client.admin('GET', '/app-requests?limit=100')
  const found = (requests as { app_key: string; request_id: string }[]).find(({ app_key }) => app_key === appKey)
  if (!found) throw new Error('no request')
  return found.request_id
}
const decide = async (appKey: string, decision: string, body?: object) =>
  client.admin('POST', `/app-requests/${await openRequest(appKey)}/${decision}`, body)
const mailsTo = async ({ userId }: Developer): Promise<string[]> =>
  (
    await world.pool.query(
      `select payload ->> 'kind' as kind from graphile_worker._private_jobs j
       join graphile_worker._private_tasks t on t.id = j.task_id
       where t.identifier = 'send-person-mail' and payload ->> 'userId' = $1 order by j.id`,
      [userId],
    )
  ).rows.map(({ kind }) => kind)
const isUsable = async (appKey: string, redirect_uri: string): Promise<boolean> => {
  const { browser } = await person(world)
  const app = { app_key: appKey, app_secret: '', redirect_uri }
  const page = await browser.open(client.authorizePath(client.request(app, { scope: 'USER_INFO' })))
  return consentForm(page.text) !== undefined
}

it('an app goes live only when an owner requests it and an operator approves', async () => {
  const appKey = await registered(owner)
  const developer = await joined(world, owner)
  expect((await requestApproval(appKey, developer)).status).toBe(403)
  const answers = await Promise.all([requestApproval(appKey), requestApproval(appKey)])
  expect(answers.map(({ status }) => status).sort()).toEqual([303, 409])
  expect(await seen(appKey)).toContain('Until it is decided, what is in force stays.')
  expect(await isUsable(appKey, 'https://app.example.com/callback')).toBe(false)
  world.clock.advance(60)
  const { requests } = await client.admin('GET', '/app-requests')
  expect(requests).toMatchObject([{ app_key: appKey, name: 'Sunny Day Trips', team: 'Ann', kind: 'live' }])
  await decide(appKey, 'approve')
  expect(await isUsable(appKey, 'https://app.example.com/callback')).toBe(true)
  expect(await mailsTo(owner)).toContain('app_approved')
  expect(await seen(appKey)).toContain('Live')
})

it('an app is approved as it was when requested, whatever its team has changed since', async () => {
  const appKey = await registered(owner)
  await requestApproval(appKey)
  world.clock.advance(60)
  const changed = { ...APP_FORM, name: 'Your Bank', redirect_uris: 'https://evil.example/callback' }
  await owner.browser.send('POST', `/developer/apps/${appKey}/edit`, changed)
  await decide(appKey, 'approve')
  expect(await isUsable(appKey, 'https://evil.example/callback')).toBe(false)
  expect(await seen(appKey)).toContain('Sunny Day Trips')
})

it('a request can be refused or returned with a remark, and then made again', async () => {
  const appKey = await registered(owner)
  await requestApproval(appKey)
  await decide(appKey, 'return', { remark: 'What is the name for?' })
  expect(await seen(appKey)).toContain('What is the name for?')
  world.clock.advance(1)
  expect(header(await requestApproval(appKey), 'location')).toBe(`/developer/apps/${appKey}?done=asked`)
  world.clock.advance(1)
  await decide(appKey, 'refuse', { remark: 'Not a trip at all' })
  expect(await seen(appKey)).toContain('Not a trip at all')
  expect(await isUsable(appKey, 'https://app.example.com/callback')).toBe(false)
  expect((await mailsTo(owner)).slice(-2)).toEqual(['app_returned', 'app_refused'])
})

it('a change of a live app waits for approval, shown beside the current values, which stay in force', async () => {
  const appKey = await registered(owner)
  await requestApproval(appKey)
  await decide(appKey, 'approve')
  const changed = { ...APP_FORM, redirect_uris: 'https://new.example.com/callback', scope_PHONE_NUMBER: '1' }
  await owner.browser.send('POST', `/developer/apps/${appKey}/edit`, { ...changed, reason_PHONE_NUMBER: 'To call' })
  const request = await client.admin('GET', `/app-requests/${await openRequest(appKey)}`)
  expect(request).toMatchObject({
    kind: 'change',
    changes: [
      { field: 'redirect_uris', asked: ['https://new.example.com/callback'] },
      { field: 'scopes', in_force: ['USER_INFO'], asked: ['USER_INFO', 'PHONE_NUMBER'] },
    ],
  })
  expect(await isUsable(appKey, 'https://app.example.com/callback')).toBe(true)
  world.clock.advance(1)
  expect(await isUsable(appKey, 'https://new.example.com/callback')).toBe(false)
  await decide(appKey, 'approve')
  expect(await isUsable(appKey, 'https://new.example.com/callback')).toBe(true)
  const { rows } = await world.pool.query(
    "select detail -> 'after' -> 'scopes' as scopes from audit_event where event = 'app_request_approved' and app_key = $1 order by at desc, audit_id desc limit 1",
    [appKey],
  )
  expect(rows[0].scopes).toEqual(['USER_INFO', 'PHONE_NUMBER'])
})

it('a request can be withdrawn, and is decided only once', async () => {
  const appKey = await registered(owner)
  await requestApproval(appKey)
  const id = await openRequest(appKey)
  await owner.browser.send('POST', `/developer/apps/${appKey}/request/withdraw`, {})
  await expect(client.admin('POST', `/app-requests/${id}/approve`)).rejects.toThrow('decided already')
  expect((await owner.browser.send('POST', `/developer/apps/${appKey}/request/withdraw`, {})).status).toBe(409)
})

it('a change that changes nothing, and requests beyond twenty a day of one team, are refused', async () => {
  const busy = await founder(world, 'Busy')
  const appKey = await registered(busy)
  await requestApproval(appKey, busy)
  await decide(appKey, 'approve')
  world.clock.advance(1)
  const edit = (changes = {}) =>
    busy.browser.send('POST', `/developer/apps/${appKey}/edit`, { ...APP_FORM, ...changes })
  const same = await edit()
  expect([same.status, visibleText(same.text).includes('there is nothing to ask for')]).toEqual([409, true])
  const statuses: number[] = []
  for (let n = 0; n < 20; n++) {
    statuses.push((await edit({ reason_USER_INFO: `Reason ${n}` })).status)
    await busy.browser.send('POST', `/developer/apps/${appKey}/request/withdraw`, {})
    world.clock.advance(1)
  }
  expect(statuses).toEqual([...Array(19).fill(303), 409])
})

it('a request is refused for an app with loopback redirect URIs only', async () => {
  const appKey = await registered(owner, { redirect_uris: 'http://localhost:8000/callback' })
  expect((await requestApproval(appKey)).status).toBe(409)
})

it('a request is refused until the team gives a reason for a scope that an operator added', async () => {
  const appKey = await registered(owner)
  await client.admin('PATCH', `/apps/${appKey}`, { scopes: ['USER_INFO', 'PHONE_NUMBER'] })
  const answer = await requestApproval(appKey)
  expect(answer.status).toBe(400)
  expect(visibleText(answer.text)).toContain('Change the app, then ask again.')
  expect(visibleText(answer.text)).toMatch(/phone number is required/)
  expect((await owner.browser.open(`/developer/apps/${appKey}`)).status).toBe(200)
  const scope = { scope_PHONE_NUMBER: '1', reason_PHONE_NUMBER: 'to call them' }
  await owner.browser.send('POST', `/developer/apps/${appKey}/edit`, { ...APP_FORM, ...scope })
  expect((await requestApproval(appKey)).status).toBe(303)
})

it('a change requested before an operator changed the app can be returned, but not approved', async () => {
  const scope = { scope_PHONE_NUMBER: '1', reason_PHONE_NUMBER: 'to call them' }
  const appKey = await registered(owner, scope)
  await requestApproval(appKey)
  await decide(appKey, 'approve')
  world.clock.advance(60)
  await owner.browser.send('POST', `/developer/apps/${appKey}/edit`, { ...APP_FORM, ...scope, name: 'Another' })
  world.clock.advance(60)
  await client.admin('PATCH', `/apps/${appKey}`, { scopes: ['USER_INFO'] })
  await expect(decide(appKey, 'approve')).rejects.toThrow('changed since')
  expect(await client.admin('GET', `/apps/${appKey}`)).toMatchObject({ name: 'Sunny Day Trips', scopes: ['USER_INFO'] })
  await decide(appKey, 'return', { remark: 'without the number, please' })
})

it('an app that an operator changed since it was to go live can be returned, but not approved', async () => {
  const appKey = await registered(owner)
  await requestApproval(appKey)
  world.clock.advance(60)
  await client.admin('PATCH', `/apps/${appKey}`, { redirect_uris: ['https://mended.example/callback'] })
  world.clock.advance(60)
  // What its team changes afterwards makes nothing of that undone either.
  await owner.browser.send('POST', `/developer/apps/${appKey}/edit`, { ...APP_FORM, name: 'Another' })
  await expect(decide(appKey, 'approve')).rejects.toThrow('changed since')
  expect(await client.admin('GET', `/apps/${appKey}`)).toMatchObject({ name: 'Another', stage: 'development' })
  await decide(appKey, 'return', { remark: 'look at the address' })
})

it('a change by an operator counts even if the clock of that machine is behind', async () => {
  const appKey = await registered(owner)
  await requestApproval(appKey)
  world.clock.advance(-60)
  await client.admin('PATCH', `/apps/${appKey}`, { redirect_uris: ['https://mended.example/callback'] })
  world.clock.advance(120)
  await owner.browser.send('POST', `/developer/apps/${appKey}/edit`, { ...APP_FORM, name: 'Another' })
  await expect(decide(appKey, 'approve')).rejects.toThrow('changed since')
})

it('a request for an app registered under older rules is refused with what is missing now', async () => {
  const appKey = await registered(owner, { kind: 'page' })
  await world.pool.query("update micro_app set redirect_uris = '{}', hosts = '{app.example.com}' where app_key = $1", [
    appKey,
  ])
  const answer = await requestApproval(appKey)
  expect(answer.status).toBe(400)
  expect(visibleText(answer.text)).toMatch(/Redirect URIs must have at least one entry/)
  await expect(openRequest(appKey)).rejects.toThrow('no request')
})

it('a request ends when the app is assigned to another team', async () => {
  const other = await founder(world, 'Another team')
  const appKey = await registered(owner)
  await requestApproval(appKey)
  await client.admin('POST', `/apps/${appKey}/give`, { team_id: owner.team })
  await openRequest(appKey) // it is that team's already
  await client.admin('POST', `/apps/${appKey}/give`, { team_id: other.team })
  await expect(openRequest(appKey)).rejects.toThrow('no request')
  expect((await requestApproval(appKey, other)).status).toBe(303)
})

it('operators get one mail about each request if OPERATORS_MAIL is set', async () => {
  let refusal: Error | undefined
  const mailServer = await postOffice({ smtp: { onRcptTo: (_to, _session, done) => done(refusal) } })
  const withMail = await openWorld({ OPERATORS_MAIL: 'ops@example.com', SMTP_URL: mailServer.url })
  const queued = async (): Promise<{ requestId: string }[]> =>
    (
      await withMail.pool.query(
        `select payload from graphile_worker._private_jobs j join graphile_worker._private_tasks t on t.id = j.task_id
         where t.identifier = 'send-request-mail'`,
      )
    ).rows.map(({ payload }) => payload)
  try {
    const someone = await founder(withMail, 'Lake')
    const appKey = await registered(someone)
    const answers = await Promise.all([requestApproval(appKey, someone), requestApproval(appKey, someone)])
    expect(answers.map(({ status }) => status).sort()).toEqual([303, 409])
    const [first, ...more] = await queued()
    expect(more).toEqual([])
    const job = { id: '1', log: withMail.log, signal: AbortSignal.timeout(10_000) }
    refusal = reply(550, '5.1.1 who?')
    await expect(TASKS['send-request-mail'](withMail.deps, first, job)).rejects.toThrow(GiveUp)
    refusal = undefined
    await TASKS['send-request-mail'](withMail.deps, first, job)
    const [mail, ...others] = mailServer.to('ops@example.com')
    expect(others).toEqual([])
    expect(mail?.mail.subject).toContain('Sunny Day Trips: a team asks for approval')
    const path = /\/console\/app-requests\/[0-9a-f-]{36}/.exec(mail?.mail.text ?? '')?.[0] ?? ''
    expect(path).toContain(first?.requestId)
    const { cookie } = await adminTokenHolder(withMail)
    const page = await clientOf(withMail).call('GET', path, { cookie: `${COOKIE}=${cookie}`, accept: 'text/html' })
    expect(visibleText(page.text)).toContain('Sunny Day Trips')
    // Its id is not mistaken for the id of a refused HTTP request.
    expect(page.text).not.toContain('/console/requests/')
    expect(page.text).toContain(`href="/console/apps/${appKey}"`)
    // The request was withdrawn meanwhile, so no mail is sent.
    await someone.browser.send('POST', `/developer/apps/${appKey}/request/withdraw`, {})
    await TASKS['send-request-mail'](withMail.deps, first, job)
    expect(mailServer.to('ops@example.com')).toHaveLength(1)
  } finally {
    await withMail.close()
    await mailServer.close()
  }
  const { rows } = await world.pool.query(
    "select 1 from graphile_worker._private_tasks where identifier = 'send-request-mail'",
  )
  expect(rows).toEqual([])
})
