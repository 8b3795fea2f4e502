import { afterAll, beforeAll, expect, it } from 'vitest'
import { TASKS } from '../../src/operations/jobs/tasks.ts'
import type { Client } from '../acceptance/client.ts'
import { consentForm, visibleText } from '../acceptance/form.ts'
import { header } from '../acceptance/http.ts'
import { adminTokenHolder, COOKIE } from '../console/person.ts'
import { openWorld, type World } from '../harness.ts'
import { postOffice } from '../sandbox/notify/post-office.ts'
import { APP_FORM, clientOf, type Developer, founder, joined, person, registered } from '../teams/people.ts'

/** What a team asks for, and what operators decide. */

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
const ask = (appKey: string, by: Developer = owner) => by.browser.send('POST', `/developer/apps/${appKey}/request`, {})
async function openRequest(appKey: string): Promise<string> {
  const { requests } = await client.admin('GET', '/app-requests?limit=100')
  const found = (requests as { app_key: string; request_id: string }[]).find(({ app_key }) => app_key === appKey)
  if (!found) throw new Error('no request')
  return found.request_id
}
const decide = async (appKey: string, how: string, body?: object) =>
  client.admin('POST', `/app-requests/${await openRequest(appKey)}/${how}`, body)
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

it('an app goes live by the request of an owner and the approval of an operator, and not before', async () => {
  const appKey = await registered(owner)
  const developer = await joined(world, owner)
  expect((await ask(appKey, developer)).status).toBe(403)
  const answers = await Promise.all([ask(appKey), ask(appKey)])
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

it('is approved as it was asked for, whatever was changed since', async () => {
  const appKey = await registered(owner)
  await ask(appKey)
  const changed = { ...APP_FORM, name: 'Your Bank', redirect_uris: 'https://evil.example/callback' }
  await owner.browser.send('POST', `/developer/apps/${appKey}/edit`, changed)
  await decide(appKey, 'approve')
  expect(await isUsable(appKey, 'https://evil.example/callback')).toBe(false)
  expect(await seen(appKey)).toContain('Sunny Day Trips')
})

it('is refused with a reason, or asked back, and then asked for again', async () => {
  const appKey = await registered(owner)
  await ask(appKey)
  await decide(appKey, 'return', { remark: 'What is the name for?' })
  expect(await seen(appKey)).toContain('What is the name for?')
  world.clock.advance(1)
  expect(header(await ask(appKey), 'location')).toBe(`/developer/apps/${appKey}?done=asked`)
  world.clock.advance(1)
  await decide(appKey, 'refuse', { remark: 'Not a trip at all' })
  expect(await seen(appKey)).toContain('Not a trip at all')
  expect(await isUsable(appKey, 'https://app.example.com/callback')).toBe(false)
  expect((await mailsTo(owner)).slice(-2)).toEqual(['app_returned', 'app_refused'])
})

it('of a live app a change waits, shown beside what is in force, and the old stays until then', async () => {
  const appKey = await registered(owner)
  await ask(appKey)
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

it('can be withdrawn, and decided once', async () => {
  const appKey = await registered(owner)
  await ask(appKey)
  const id = await openRequest(appKey)
  await owner.browser.send('POST', `/developer/apps/${appKey}/request/withdraw`, {})
  await expect(client.admin('POST', `/app-requests/${id}/approve`)).rejects.toThrow('decided already')
  expect((await owner.browser.send('POST', `/developer/apps/${appKey}/request/withdraw`, {})).status).toBe(409)
})

it('is not made for an app that nobody elsewhere could use', async () => {
  const appKey = await registered(owner, { redirect_uris: 'http://localhost:8000/callback' })
  expect((await ask(appKey)).status).toBe(409)
})

it('an app to which an operator gave what its team says nothing of is not asked for until the team has said it', async () => {
  const appKey = await registered(owner)
  await client.admin('PATCH', `/apps/${appKey}`, { scopes: ['USER_INFO', 'PHONE_NUMBER'] })
  const answer = await ask(appKey)
  expect(answer.status).toBe(400)
  expect(visibleText(answer.text)).toContain('Change the app, then ask again.')
  expect(visibleText(answer.text)).toMatch(/phone number is required/)
  expect((await owner.browser.open(`/developer/apps/${appKey}`)).status).toBe(200)
  const scope = { scope_PHONE_NUMBER: '1', reason_PHONE_NUMBER: 'to call them' }
  await owner.browser.send('POST', `/developer/apps/${appKey}/edit`, { ...APP_FORM, ...scope })
  expect((await ask(appKey)).status).toBe(303)
})

it('a change that was asked for before an operator changed the app is returned, not approved', async () => {
  const scope = { scope_PHONE_NUMBER: '1', reason_PHONE_NUMBER: 'to call them' }
  const appKey = await registered(owner, scope)
  await ask(appKey)
  await decide(appKey, 'approve')
  world.clock.advance(60)
  await owner.browser.send('POST', `/developer/apps/${appKey}/edit`, { ...APP_FORM, ...scope, name: 'Another' })
  world.clock.advance(60)
  await client.admin('PATCH', `/apps/${appKey}`, { scopes: ['USER_INFO'] })
  await expect(decide(appKey, 'approve')).rejects.toThrow('changed since')
  expect(await client.admin('GET', `/apps/${appKey}`)).toMatchObject({ name: 'Sunny Day Trips', scopes: ['USER_INFO'] })
  await decide(appKey, 'return', { remark: 'without the number, please' })
})

it('an app that an older form took leads to what it lacks now', async () => {
  const appKey = await registered(owner, { kind: 'page' })
  await world.pool.query("update micro_app set redirect_uris = '{}', hosts = '{app.example.com}' where app_key = $1", [
    appKey,
  ])
  const answer = await ask(appKey)
  expect(answer.status).toBe(400)
  expect(visibleText(answer.text)).toMatch(/Redirect URIs must have at least one entry/)
  await expect(openRequest(appKey)).rejects.toThrow('no request')
})

it('a request ends when the app is given to another team', async () => {
  const other = await founder(world, 'Another team')
  const appKey = await registered(owner)
  await ask(appKey)
  await client.admin('POST', `/apps/${appKey}/give`, { team_id: other.team })
  await expect(openRequest(appKey)).rejects.toThrow('no request')
  expect((await ask(appKey, other)).status).toBe(303)
})

it('operators are told once of each request by mail, where they have said their address', async () => {
  const office = await postOffice()
  const telling = await openWorld({ OPERATORS_MAIL: 'ops@example.com', SMTP_URL: office.url })
  const queued = async (): Promise<{ requestId: string }[]> =>
    (
      await telling.pool.query(
        `select payload from graphile_worker._private_jobs j join graphile_worker._private_tasks t on t.id = j.task_id
         where t.identifier = 'send-request-mail'`,
      )
    ).rows.map(({ payload }) => payload)
  try {
    const someone = await founder(telling, 'Lake')
    const appKey = await registered(someone)
    const answers = await Promise.all([ask(appKey, someone), ask(appKey, someone)])
    expect(answers.map(({ status }) => status).sort()).toEqual([303, 409])
    const [first, ...more] = await queued()
    expect(more).toEqual([])
    const job = { id: '1', log: telling.log, signal: AbortSignal.timeout(10_000) }
    await TASKS['send-request-mail'](telling.deps, first, job)
    const [mail, ...others] = office.to('ops@example.com')
    expect(others).toEqual([])
    expect(mail?.mail.subject).toContain('Sunny Day Trips: a team asks for approval')
    const path = /\/console\/app-requests\/[0-9a-f-]{36}/.exec(mail?.mail.text ?? '')?.[0] ?? ''
    expect(path).toContain(first?.requestId)
    const { cookie } = await adminTokenHolder(telling)
    const page = await clientOf(telling).call('GET', path, { cookie: `${COOKIE}=${cookie}`, accept: 'text/html' })
    expect(visibleText(page.text)).toContain('Sunny Day Trips')
    // Its number is not that of a request that was refused.
    expect(page.text).not.toContain('/console/requests/')
    expect(page.text).toContain(`href="/console/apps/${appKey}"`)
    // Decided meanwhile: there is nothing to tell.
    await someone.browser.send('POST', `/developer/apps/${appKey}/request/withdraw`, {})
    await TASKS['send-request-mail'](telling.deps, first, job)
    expect(office.to('ops@example.com')).toHaveLength(1)
  } finally {
    await telling.close()
    await office.close()
  }
  const { rows } = await world.pool.query(
    "select 1 from graphile_worker._private_tasks where identifier = 'send-request-mail'",
  )
  expect(rows).toEqual([])
})
