import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ROLES, type Role } from '../../src/platform/lib/web/admin-auth.ts'
import { ADMIN_TOKEN, openWorld, type World } from '../harness.ts'
import { addressOf, type Filled, fill, HOSTILE, USER } from './filled.ts'
import { type Person, signedInAs } from './person.ts'

/** Pages about one person: the access ledger, a password reset, the export and the erasure. */

let world: World
let filled: Filled
let as: (role: Role) => Person
beforeAll(async () => {
  world = await openWorld()
  filled = await fill(world)
  const signed = await signedInAs(world, ROLES)
  as = (role) => signed(role).person
})
afterAll(() => world.close())

const at = (what: string) => addressOf(`/users/${what}`, filled)
const events = async (event: string) =>
  (await world.pool.query('select * from audit_event where event = $1 order by at', [event])).rows

it('a user’s page offers what the role allows', async () => {
  const offered = async (role: Role) => {
    const { text } = await as(role).get(at('user'))
    return ['accesses', 'reset-password', 'export', 'erase'].filter((what) => text.includes(`/users/${what}?`))
  }
  expect(await offered('viewer')).toEqual([])
  expect(await offered('support')).toEqual(['accesses', 'export'])
  expect(await offered('editor')).toEqual(['accesses', 'reset-password', 'export'])
  expect(await offered('admin')).toEqual(['accesses', 'reset-password', 'export', 'erase'])
})

it('the edit form starts empty and changes only the fields that are filled in, so a mask is never saved', async () => {
  const form = await as('editor').get(at('update'))
  expect(form.text).not.toMatch(/<input id="name"[^>]* value="[^"]/)
  const done = await as('editor').submit(at('update'), { name: '', gender: '1' })
  expect(done.status).toBe(303)
  const { rows } = await world.pool.query('select name, gender from user_profile')
  expect(rows).toEqual([{ name: HOSTILE, gender: '1' }])
  expect((await as('editor').submit(at('update'))).status).toBe(400)
  expect((await as('support').get(at('update'))).status).toBe(403)
})

it('the edit form removes a phone number, unless another one is typed', async () => {
  const number = async () => (await world.pool.query('select phone_number from user_profile')).rows[0].phone_number
  const asked = (await as('editor').get(at('update'))).text
  expect(asked).toMatch(/Remove the current value<[\s\S]*?name="cleared" value="phone_number"> Phone number</)
  await as('editor').submit(at('update'), { cleared: 'phone_number', phone_number: '+8613800138001' })
  expect(await number()).toBe('+8613800138001')
  await as('editor').submit(at('update'), { cleared: 'phone_number' })
  expect(await number()).toBeNull()
  const again = { ...USER, cid: String(USER.cid), cleared: 'phone_number' }
  await as('editor').submit('/console/api/user_update', { ...again, phone_number: '+8613800138000' })
  expect(await number()).toBe('+8613800138000')
  expect((await as('editor').submit('/console/api/user_update', again)).text).toContain(
    '&quot;phone_number&quot;: null',
  )
  await world.pool.query("update user_profile set phone_number = '+8613800138000'")
})

describe('the access ledger', () => {
  it('is shown page by page, newest hour first, and each view is audited', async () => {
    await world.pool.query(
      `insert into data_access (routing_key, cid, user_id, app_key, kind, hour, reads, last_at)
       select routing_key, cid, user_id, $1, case when n % 2 = 0 then 'phone' else 'profile' end,
         '2026-05-01T00:00:00Z'::timestamptz + n * interval '1 hour', n, '2026-05-01T00:10:00Z'::timestamptz + n * interval '1 hour'
       from user_profile, generate_series(1, 60) n`,
      [filled.app_key],
    )
    const before = (await events('user_accesses_read')).length
    const first = (await as('support').get(`${at('accesses')}&limit=50`)).text
    expect(first).toContain('2026-05-03 12:00:00')
    expect(first).not.toContain('2026-05-01 01:00:00')
    expect(first).toContain(`/console/apps/${filled.app_key}`)
    const next = /href="(\?[^"]*)" rel="next"/.exec(first)?.[1]?.replaceAll('&amp;', '&') ?? ''
    const second = (await as('support').get(`/console/users/accesses${next}`)).text
    expect(second).toContain('2026-05-01 01:00:00')
    expect(second).not.toContain('rel="next"')
    const kept = await events('user_accesses_read')
    expect(kept.slice(before)).toMatchObject([
      { actor: 'operator', user_id: USER.user_id },
      { actor: 'operator', user_id: USER.user_id },
    ])
  })

  it('gets 404 for an unknown person, and 400 without a person', async () => {
    expect((await as('support').get('/console/users/accesses?cid=1&user_id=nobody')).status).toBe(404)
    expect((await as('support').get('/console/users/accesses')).status).toBe(400)
  })
})

it('a password link is shown once and works', async () => {
  const asked = await as('editor').get(at('reset-password'))
  expect(asked.text).toContain('takes over the account')
  const { text, headers } = await as('editor').submit(at('reset-password'))
  const [, token = ''] = /\/password\?token=([\w-]+)/.exec(text) ?? []
  expect(headers['cache-control']).toBe('no-store')
  expect((await world.app.inject({ url: `/password?token=${token}` })).statusCode).toBe(200)
  expect(await events('user_password_link_made')).toMatchObject([{ actor: 'operator', user_id: USER.user_id }])
  expect(world.logged()).not.toContain(token)
})

describe('an export', () => {
  it('needs a reason', async () => {
    expect((await as('support').submit(at('export'))).status).toBe(400)
    expect(await events('user_exported')).toEqual([])
  })

  it('is downloaded as a file, and audited with the reason', async () => {
    const { status, headers, text } = await as('support').submit(at('export'), { reason: 'the person has asked' })
    expect(status).toBe(200)
    expect(headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'content-disposition': 'attachment; filename="person.json"',
      'cache-control': 'no-store',
    })
    expect(JSON.parse(text)).toMatchObject({ ...USER, profile: [{ name: HOSTILE, phone_number: '+8613800138000' }] })
    expect(await events('user_exported')).toMatchObject([{ detail: { reason: 'the person has asked' } }])
  })
})

describe('an erasure', () => {
  it('first shows how much will be deleted, in both languages', async () => {
    const { text } = await as('admin').get(at('erase'))
    expect(text).toMatch(/<dt>Grants<\/dt><dd>1<\/dd>/)
    expect(text).toMatch(/<dt>Hours in which apps have read data<\/dt><dd>60<\/dd>/)
    expect((await as('admin').get(`${at('erase')}&ui_locales=zh-CN`)).text).toMatch(/<dt>授权<\/dt><dd>1<\/dd>/)
  })

  it('happens only if the user_id is typed', async () => {
    for (const typed of ['', 'yes', USER.user_id.slice(1)]) {
      expect((await as('admin').submit(at('erase'), { typed })).status, typed).toBe(400)
    }
    expect(await events('user_erased')).toEqual([])
    const { status, text } = await as('admin').submit(at('erase'), { typed: USER.user_id })
    expect(status).toBe(200)
    expect(text).toContain('Backups: until they are replaced.')
    expect(text, 'a line without a text of its own').not.toContain('<span lang="en">')
    const [row] = await events('user_erased')
    expect(row).toMatchObject({ actor: 'operator', user_id: null })
    expect(text).toContain(row.target.replace('erasure:', ''))
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}` }
    const found = await world.app.inject({ url: '/admin/v1/users', headers })
    expect(found.json().data.users).toEqual([])
  })

  it('has a text for every kind of row', async () => {
    const { ROWS_OF_PERSON } = await import('../../src/authorization/people/store.ts')
    const { default: texts } = await import('../../views/locales/en.json', { with: { type: 'json' } })
    const known: Record<string, string> = texts
    for (const { what } of ROWS_OF_PERSON) expect(known, what).toHaveProperty([`field.rows.${what}`])
  })
})
