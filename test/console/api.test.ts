import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ALL_ACTIONS } from '../../src/operations/actions/index.ts'
import { openWorld, type World } from '../harness.ts'
import { type Filled, fill, USER } from './filled.ts'
import { type Person, signedIn } from './person.ts'

/** Trying the operator API in the console: with the role of the signed-in operator and the form mark of the session. */

let world: World
let filled: Filled
let editor: Person
let viewer: Person
beforeAll(async () => {
  world = await openWorld()
  filled = await fill(world)
  editor = (await signedIn(world, 'editor')).person
  viewer = (await signedIn(world, 'viewer')).person
})
afterAll(() => world.close())

const textOf = (html: string): string =>
  html.replaceAll('&quot;', '"').replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&#39;', "'")

it('the list shows every operation and preview of the API', async () => {
  const { text } = await viewer.get('/console/api')
  for (const { id, previewRole } of ALL_ACTIONS) {
    expect(text).toContain(`href="/console/api/${id}"`)
    if (previewRole) expect(text).toContain(`href="/console/api/${id}_preview"`)
  }
  expect(text).toContain('gatehouse app end-tokens')
  const jobs = (await viewer.get('/console/api?part=jobs')).text
  expect(jobs).toContain('/console/api/job_retry')
  expect(jobs).not.toContain('/console/api/app_list"')
})

describe('an operation', () => {
  it('is described with its fields, even to operators who may not run it', async () => {
    const { status, text } = await viewer.get('/console/api/app_create')
    expect(status).toBe(200)
    expect(text).toContain('POST /admin/v1/apps')
    expect(text).toContain('<label for="field-redirect_uris">redirect_uris</label>')
    expect((await viewer.get('/console/api/nothing')).status).toBe(404)
  })

  it('shows the response of the API', async () => {
    const { status, text } = await viewer.submit('/console/api/app_show', { app_key: filled.app_key })
    expect(status).toBe(200)
    expect(textOf(text)).toContain(`"app_key": "${filled.app_key}"`)
    expect(textOf(text)).toContain('"rescode": 0')
    expect(text).toContain(`/admin/v1/apps/${filled.app_key}`)
  })

  it('shows the warnings that the API adds', async () => {
    const { partner_id } = filled
    const given = { partner_id: String(partner_id), base_url: 'http://tickets.example.com' }
    const { text } = await editor.submit('/console/api/partner_update', given)
    expect(textOf(text)).toMatch(/"warnings": \[\s*\{\s*"field": "base_url"/)
  })

  it('is audited as a change by an operator', async () => {
    const { text } = await editor.submit('/console/api/app_update', { app_key: filled.app_key, hosts: 'tried.example' })
    expect(textOf(text)).toContain('"tried.example"')
    const { rows } = await world.pool.query("select actor from audit_event where event = 'app_updated'")
    expect(rows).toEqual([{ actor: 'operator' }])
  })

  it('marks invalid fields and keeps the input', async () => {
    const { status, text } = await editor.submit('/console/api/app_create', { name: 'Typed' })
    expect(status).toBe(400)
    expect(text).toContain('value="Typed"')
    expect(text).toContain('<strong>hosts</strong>')
  })

  it('shows other errors as the API would return them', async () => {
    const { status, text } = await viewer.submit('/console/api/app_show', { app_key: 'none' })
    expect(status).toBe(200)
    expect(textOf(text)).toMatch(/404[\s\S]*"rescode": 20007[\s\S]*no such micro-app/)
  })

  it('is denied without its role, and the denial is audited', async () => {
    const { text } = await viewer.submit('/console/api/app_suspend', { app_key: filled.app_key })
    expect(textOf(text)).toMatch(/Answered with HTTP 403[\s\S]*"rescode": 20003/)
    const { rows } = await world.pool.query("select target from audit_event where event = 'operator_refused'")
    expect(rows).toContainEqual({ target: 'POST /apps/:app_key/suspend' })
    expect((await world.pool.query("select 1 from audit_event where event = 'app_suspended'")).rows).toEqual([])
  })

  it('is rejected without the form mark of the session', async () => {
    const forged = await editor.post('/console/api/app_suspend', { app_key: filled.app_key, form_of: 'forged' })
    expect(forged.status).toBe(403)
  })

  it('masks what a viewer may not see, like the API', async () => {
    const { text } = await viewer.submit('/console/api/audit_list', {})
    expect(textOf(text)).toContain('"address": null')
    expect(text).not.toContain('127.0.0.1')
  })

  it('that returns a file shows the beginning of it', async () => {
    const { text } = await viewer.submit('/console/api/get_openapi_json', {})
    expect(textOf(text)).toContain('"openapi": "3.1.0"')
  })
})

describe('a parameter that needs a higher role', () => {
  it('is not offered to a viewer, and rejected like in the API', async () => {
    const [cid, user_id] = [String(USER.cid), USER.user_id]
    for (const [id, fields] of Object.entries({
      user_show: { cid, user_id, reason: 'curious' },
      user_list: { phone_number: '138' },
      traffic_show: { id: `call/${'0'.repeat(8)}-0000-4000-8000-000000000000`, reason: 'curious' },
    })) {
      expect((await viewer.get(`/console/api/${id}`)).text).not.toContain('field-reason')
      const { text } = await viewer.submit(`/console/api/${id}`, fields)
      expect(text, id).toContain('Answered with HTTP 403')
    }
    const { text } = await viewer.submit('/console/api/user_show', { cid, user_id })
    expect(textOf(text)).toContain('***')
  })

  it('is accepted from support, and the reason is audited', async () => {
    const support = (await signedIn(world, 'support')).person
    const fields = { cid: String(USER.cid), user_id: USER.user_id, reason: 'a call of theirs' }
    expect((await support.submit('/console/api/user_show', fields)).status).toBe(200)
    const { rows } = await world.pool.query("select detail from audit_event where event = 'personal_data_read'")
    expect(JSON.stringify(rows)).toContain('a call of theirs')
  })
})

it('an operation with several routes can be run', async () => {
  const { status, text } = await editor.submit('/console/api/partner_contact', {
    partner_id: filled.partner_id,
    role: 'product',
    name: 'Ms Contact',
    mail: 'contact@example.com',
  })
  expect(status).toBe(200)
  expect(textOf(text)).toContain('Ms Contact')
})

it('a secret is not trimmed', async () => {
  const admin = (await signedIn(world, 'admin')).person
  const { status } = await admin.submit('/console/api/operator_set_password', {
    name: 'nobody',
    password: ' too short ',
  })
  expect(status).toBe(400)
  const { text } = await admin.submit('/console/api/operator_set_password', {
    name: 'nobody',
    password: ' ten chars. ',
  })
  expect(text).not.toContain('at least 12')
})
