import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { signInOperator } from '../../src/operations/operators/index.ts'
import { recordAudit } from '../../src/platform/audit/index.ts'
import { showPartner } from '../../src/ticketing/partners/index.ts'
import { ADMIN_TOKEN, openWorld, type World } from '../harness.ts'
import { addressOf, type Filled, fill, USER } from './filled.ts'
import { shownForm as formShownTo, type Page, type Person, signedIn } from './person.ts'

/** What the pages of the console show and what its changes do. */

let world: World
let filled: Filled
let admin: Person
let adminName: string
let support: Person
let viewer: Person
beforeAll(async () => {
  world = await openWorld()
  filled = await fill(world)
  const made = await signedIn(world, 'admin')
  admin = made.person
  adminName = made.name
  support = (await signedIn(world, 'support')).person
  viewer = (await signedIn(world, 'viewer')).person
})
afterAll(() => world.close())

/** What the page offers to copy. */
const copied = ({ text }: Page) =>
  [...text.matchAll(/ data-copy=[^>]*><code>([^<]*)<\/code><\/span>/g)].map(([, shown]) => shown)

/** Submits a change; returns the response and the new rows of the audit log. */
async function change(path: string, fields: Record<string, string> = {}, who = admin) {
  const before = new Set((await world.pool.query('select audit_id from audit_event')).rows.map((row) => row.audit_id))
  const answer = await who.submit(addressOf(path, filled), fields)
  const { rows } = await world.pool.query('select * from audit_event order by at')
  return { answer, rows: rows.filter((row) => !before.has(row.audit_id)) }
}

it('the page of an order shows when its visitors were removed', async () => {
  const path = addressOf('/orders/:order_id', filled)
  expect((await viewer.get(path)).text).toContain('<dt>Visitors and contact removed</dt><dd>–</dd>')
  const set = 'update ticket_order set data_removed_at = $2 where order_id = $1'
  await world.pool.query(set, [filled.order_id, '2026-04-05T06:07:08Z'])
  expect((await viewer.get(path)).text).toMatch(
    /<dt>Visitors and contact removed<\/dt><dd><time[^>]*>2026-04-05 06:07:08 UTC<\/time>/,
  )
  await world.pool.query(set, [filled.order_id, null])
})

it('the page of an app request names its fields and the purpose of each scope in words', async () => {
  const { text } = await viewer.get(`/console/app-requests/${filled.request_id}`)
  expect(text).toMatch(/<dt>What each scope is for: USER_INFO<\/dt><dd[^>]*>&quot;&gt;&lt;img/)
  expect(text).not.toContain('{')
  expect(text).toMatch(/<td[^>]*>Redirect URIs<\/td>/)
  expect(text).not.toContain('redirect_uris')
  expect(text).toMatch(/<dt>Where its code runs<\/dt><dd[^>]*>On a server</)
})

describe('a change', () => {
  it('first shows how much it affects, and is recorded with the name of the operator', async () => {
    const asked = await admin.get(addressOf('/apps/:app_key/suspend', filled))
    expect(asked.text).toMatch(
      /<dt>Grants concerned, of the newest 10,000<\/dt><dd>1<[\s\S]*<dt>People concerned<\/dt><dd>1</,
    )
    const { answer, rows } = await change('/apps/:app_key/suspend')
    expect(answer).toMatchObject({ status: 303, location: `/console/apps/${filled.app_key}?done=1` })
    expect(rows).toMatchObject([
      {
        event: 'app_suspended',
        actor: 'operator',
        actor_name: adminName,
        address: '127.0.0.1',
        app_key: filled.app_key,
      },
    ])
    expect(rows[0].request_id).toMatch(/^[0-9a-f-]{36}$/)
    expect((await admin.get(answer.location)).text).toContain('The audit log has a record of it')
    expect((await change('/apps/:app_key/approve')).rows).toMatchObject([{ event: 'app_approved' }])
  })

  it('of a stage sets the stage shown on the page, even if somebody else has changed it since', async () => {
    const path = addressOf('/partners/:partner_id/stage', filled)
    const stage = async () => (await showPartner(world.deps, BigInt(filled.partner_id))).stage
    const before = await stage()
    const both = [await admin.hidden(path), await admin.hidden(path)]
    const [first, second] = [await admin.post(path, both[0]), await admin.post(path, both[1])]
    expect([first.status, second.status]).toEqual([303, 400])
    expect(second.text).toContain('is already set to this; nothing was changed')
    expect(await stage()).not.toBe(before)
    const { stage: _, ...without } = await admin.hidden(path)
    expect((await admin.post(path, without)).status).toBe(400)
    expect((await admin.submit(path)).status).toBe(303)
    expect(await stage()).toBe(before)
  })

  it('shows a new secret only once', async () => {
    const { answer } = await change('/apps/:app_key/rotate-secret', { overlap_s: '60' })
    const [secret] = /ghas_\w+/.exec(answer.text) ?? []
    expect(copied(answer)).toEqual([filled.app_key, secret])
    expect(answer.headers['cache-control']).toBe('no-store')
    expect((await admin.get(addressOf('/apps/:app_key', filled))).text).not.toContain(secret)
    expect(world.logged()).not.toContain(secret)
  })

  it('that cannot be made shows the reason next to the form', async () => {
    const { answer, rows } = await change('/apps/:app_key/rotate-secret', { overlap_s: '99999999' })
    expect(answer.status).toBe(400)
    expect(answer.text).toContain('must be at most 2592000')
    expect(rows).toEqual([])
    const none = await admin.get('/console/apps/nobody/suspend')
    expect(none.status).toBe(404)
  })

  it('of users, grants, partners, jobs and keys is made and audited', async () => {
    expect((await change('/users/block')).rows).toMatchObject([{ event: 'user_blocked', user_id: USER.user_id }])
    expect((await change('/users/unblock')).rows).toMatchObject([{ event: 'user_unblocked' }])
    expect((await change('/grants/revoke', {}, support)).rows).toMatchObject([{ event: 'grant_withdrawn' }])
    for (const [path, event] of [
      ['suspend', 'partner_suspended'],
      ['activate', 'partner_activated'],
      ['stage', 'partner_stage_set'],
    ] as const) {
      expect((await change(`/partners/:partner_id/${path}`)).rows).toMatchObject([{ event, actor_name: adminName }])
    }
    const rotated = await change('/partners/:partner_id/rotate-secret', { overlap_s: '60' })
    expect(copied(rotated.answer)).toEqual([filled.client_id, expect.stringMatching(/^ghcs_\w+$/)])
    expect((await change('/jobs/:job_id/retry', {}, support)).rows).toMatchObject([{ event: 'job_retried' }])
    expect((await change('/jobs/:job_id/give-up', { reason: 'the partner is gone' }, support)).rows).toMatchObject([
      { event: 'job_given_up', detail: { reason: 'the partner is gone' } },
    ])
    expect((await change('/jobs/:job_id/give-up')).answer.status).toBe(400)
    expect((await change('/jobs/:job_id/remove', { reason: 'nothing to mend' }, support)).rows).toMatchObject([
      { event: 'job_removed', detail: { reason: 'nothing to mend' } },
    ])
    expect((await change('/keys/rotate')).rows).toMatchObject([
      { event: 'signing_key_made' },
      { event: 'signing_key_made' },
    ])
  })

  it('that ends all sessions of a user or all tokens of an app first shows how many there are', async () => {
    const asked = await support.get(addressOf('/users/end-sessions', filled))
    expect(asked.text).toMatch(/<dt>Tokens concerned<\/dt><dd>0<[\s\S]*<dt>Browser sessions concerned<\/dt><dd>0</)
    expect((await change('/users/end-sessions', {}, support)).rows).toMatchObject([
      { event: 'user_sessions_ended', user_id: USER.user_id },
    ])
    const tokens = await admin.get(addressOf('/apps/:app_key/end-tokens', filled))
    expect(tokens.text).toMatch(
      /<dt>Grants concerned, of the newest 10,000<\/dt><dd>0<[\s\S]*<dt>People concerned<\/dt><dd>0</,
    )
    const { answer, rows } = await change('/apps/:app_key/end-tokens')
    expect(answer.location).toBe(`/console/apps/${filled.app_key}?done=1`)
    expect(rows).toMatchObject([{ event: 'app_tokens_ended', actor_name: adminName }])
    expect((await admin.get('/console/apps/nobody/end-tokens')).status).toBe(404)
  })

  it('of operators creates them, sets password, role and tokens, disables and enables them', async () => {
    const made = await admin.submit('/console/-/operators/new', { name: 'grace', role: 'viewer', days: '30' })
    expect(made.text).toMatch(/data-copy="Copy"[^>]*><code>ghop_\w+/)
    const taken = await admin.submit('/console/-/operators/new', { name: 'grace', role: 'viewer', days: '30' })
    expect(taken.status).toBe(400)
    expect(taken.text).toContain('is already taken')
    const page = '/console/operators/grace'
    const short = await admin.submit(`${page}/password`, { password: 'too short' })
    expect(short.status).toBe(400)
    expect(short.text).toMatch(/<input id="field-password" name="password" type="password" value=""/)
    const password = ' all of it, spaces too '
    expect((await admin.submit(`${page}/password`, { password })).status).toBe(303)
    const signIn = { name: 'grace', code: '', address: '127.0.0.1' }
    await expect(signInOperator(world.deps, { ...signIn, password: password.trim() })).rejects.toThrow()
    expect(await signInOperator(world.deps, { ...signIn, password })).toMatchObject({ pending: true })
    expect((await admin.submit(`${page}/role`, { role: 'support' })).status).toBe(303)
    expect((await admin.submit(`${page}/tokens`, { token_name: 'laptop', role: 'viewer', days: '1' })).text).toMatch(
      /ghop_/,
    )
    const [, token] = /token_id=([0-9a-f-]{36})/.exec((await admin.get(page)).text) ?? []
    const revoke = `${page}/tokens/revoke?token_id=${token}`
    expect((await admin.get(revoke)).text).toMatch(/<dt>Name of the token<\/dt><dd[^>]*>first</)
    expect((await admin.submit(revoke)).status).toBe(303)
    expect((await admin.submit(`${page}/reset-totp`)).status).toBe(303)
    expect((await admin.submit(`${page}/disable`)).status).toBe(303)
    expect((await admin.get(page)).text).toContain('Disabled')
    expect((await admin.submit(`${page}/enable`)).status).toBe(303)
    const { rows } = await world.pool.query(
      "select event from audit_event where target = 'operator:grace' and actor_name = $1",
      [adminName],
    )
    expect(rows.map(({ event }) => event).sort()).toEqual([
      'operator_created',
      'operator_disabled',
      'operator_enabled',
      'operator_password_set',
      'operator_role_set',
      'operator_token_made',
      'operator_token_made',
      'operator_token_revoked',
      'operator_totp_reset',
    ])
  })
})

describe('personal data', () => {
  const page = () => addressOf('/users/user', filled)

  it('is masked for everybody, in lists and on the page of a user', async () => {
    for (const person of [viewer, support, admin]) {
      for (const { text } of [await person.get(page()), await person.get('/console/users')]) {
        expect(text).not.toContain('13800138000')
        expect(text).toContain('************00')
      }
    }
  })

  it('of one user is shown to support and above for a reason, which is audited', async () => {
    expect((await viewer.get(page())).text).not.toContain('/unmask')
    expect((await change('/users/unmask', {}, support)).answer.status).toBe(400)
    const { answer, rows } = await change('/users/unmask', { reason: 'called about order 88001' }, support)
    expect(answer.text).toContain('+8613800138000')
    expect(rows).toMatchObject([{ event: 'personal_data_read', detail: { reason: 'called about order 88001' } }])
  })
})

describe('a list', () => {
  it('keeps its filter on the next page, and links back to the first', async () => {
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}` }
    for (const number of [1, 2, 3]) {
      const payload = { name: `Page ${number}`, hosts: ['a.example'], scopes: ['USER_INFO'] }
      await world.app.inject({ method: 'POST', url: '/admin/v1/apps', headers, payload })
      world.clock.advance(1)
    }
    const first = (await admin.get('/console/apps?name=Page&limit=2&app_key=')).text
    expect(first).toContain('Page 2')
    expect(first).not.toContain('Page 3')
    const [, next = ''] = /href="(\?[^"]*after=[^"]*)"/.exec(first) ?? []
    const second = (await admin.get(`/console/apps${next.replaceAll('&amp;', '&')}`)).text
    expect(second).toContain('Page 3')
    expect(second).not.toContain('Page 2')
    expect(second).toContain('First page')
  })

  it('shows the problem of an invalid filter', async () => {
    const page = await admin.get('/console/orders?state=nonsense&strange=1')
    expect(page.status).toBe(400)
    expect(page.text).toContain('<strong>strange</strong> is not a known field')
  })
})

it('the audit log is filtered by whole days, both inclusive, in UTC', async () => {
  const today = world.clock.now().toISOString().slice(0, 10)
  const { text } = await viewer.get(`/console/audit?from=${today}&to=${today}&action=app_created`)
  expect(text).toContain('>App created</a>')
  expect(text).toContain('To, inclusive (day, UTC)')
  const zh = await viewer.get(`/console/audit?to=2026-01-01&action=app_created&ui_locales=zh-CN`)
  expect(zh.text).toContain('截止日期（含，UTC）')
  expect(zh.text).not.toContain('小程序已创建')
})

it('a period that was given to the minute stays in the filter, which no date field could show', async () => {
  const { text } = await viewer.get('/console/audit?from=2026-11-28T12:34:56.000Z&to=2026-11-28')
  expect(text).toContain('name="from" type="text" value="2026-11-28T12:34:56.000Z"')
  expect(text).toContain('name="to" type="date" value="2026-11-28"')
})

it('the audit log is exported with its filter, by support and above', async () => {
  const { text } = await support.get('/console/audit?action=app_created')
  expect(text).toContain('href="/console/audit/export?action=app_created"')
  expect((await support.get('/console/audit/export?action=app_created')).text).toContain('value="app_created"')
  const { answer } = await change('/audit/export', { action: 'app_created', format: 'csv' }, support)
  expect(answer.headers['content-disposition']).toBe('attachment; filename="audit.csv"')
  expect(answer.text).toMatch(/^id,at,actor_kind,/)
  expect(answer.text.match(/,app_created,/g)).toHaveLength((text.match(/>App created</g) ?? []).length)
  expect((await viewer.get('/console/audit')).text).not.toContain('/audit/export')
  expect((await viewer.get('/console/audit/export')).status).toBe(403)
})

it('the audit log translates kinds of actors; its exports keep their names', async () => {
  const address = '/console/audit?action=app_created'
  expect((await support.get(address)).text).toContain('>Operator ADMIN_TOKEN<')
  expect((await support.get(`${address}&ui_locales=zh-CN`)).text).toContain('>运营人员 ADMIN_TOKEN<')
  await support.get(`${address}&ui_locales=en`)
  expect((await support.get(`${address}&export=csv`)).text).toContain(',operator ADMIN_TOKEN,')
})

it('the audit log describes a change in words', async () => {
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}` }
  await world.app.inject({
    ...{ method: 'PATCH', url: `/admin/v1/apps/${filled.app_key}`, headers },
    payload: { hosts: ['b.example', 'c.example'] },
  })
  const { text } = await viewer.get('/console/audit?action=app_updated')
  expect(text).toContain('data-label="Details">hosts: evil.example → b.example, c.example')
})

it('signing keys are rotated from their list and retired one by one', async () => {
  await change('/keys/rotate')
  const { text } = await admin.get('/console/keys')
  expect(text).toContain('href="/console/keys/rotate"')
  expect((await admin.get('/console/keys/rotate')).text).toContain('Only this one; without it, all')
  const [, retire = ''] = /href="\/console(\/keys\/[\w-]+\/retire)"/.exec(text) ?? []
  const { rows } = await change(retire, { at_once: 'true' })
  expect(rows).toContainEqual(expect.objectContaining({ event: 'signing_key_retired', detail: { at_once: true } }))
})

it('an optional choice says that none is made, and a field that may stay empty not that it is removed', async () => {
  const { text } = await admin.get(addressOf('/users/update', filled))
  expect(text).toContain('<option value="">None chosen</option>')
  expect(text).not.toContain('none if not given')
})

it('a product in the audit log has its partner, and a link to its page', async () => {
  const about = { partnerId: BigInt(filled.partner_id), target: `product:${filled.partner_id}/deal/1` }
  await recordAudit(world.deps, { event: 'product_pull_asked', ...about })
  const { text } = await viewer.get('/console/audit?action=product_pull_asked')
  expect(text).toContain(`href="/console/partners/${filled.partner_id}/products/deal%2F1">${about.target}<`)
})

it('the audit log can be verified in the console', async () => {
  const { answer } = await change('/audit/verify', {}, support)
  expect(answer.text).toContain('The log is intact')
})

it('giving an app offers the teams by name, or by id where two share a name', async () => {
  const team = async (name: string) => {
    const sent = { name, mail: 'owner@example.com' }
    const { data } = (
      await world.app.inject({
        ...{ method: 'POST', url: '/admin/v1/teams', headers: { authorization: `Bearer ${ADMIN_TOKEN}` } },
        payload: sent,
      })
    ).json()
    return data.team_id
  }
  const twins = [await team('Twin <Tours>'), await team('twin <tours>')]
  await team('Harbour & Sons')
  const path = addressOf('/apps/:app_key/give', filled)
  const { text } = await admin.get(path)
  const [, list, options = ''] = /<datalist id="([^"]*)">(.*?)<\/datalist>/s.exec(text) ?? []
  expect(text).toContain(` list="${list}"`)
  const offered = [...options.matchAll(/<option value="([^"]*)">/g)].map(([, value]) => value)
  expect(offered).toEqual(expect.arrayContaining(['Harbour &amp; Sons', ...twins]))
  expect(options).not.toMatch(/twin/i)
  // Both of the same moment, so in either order.
  const { rows } = await change('/apps/:app_key/give', { team_id: 'Harbour & Sons' })
  expect(rows.toSorted((one, other) => one.event.localeCompare(other.event))).toMatchObject([
    { event: 'app_given' },
    { event: 'app_updated', detail: { after: { webhook_url: null } } },
  ])
  expect((await viewer.get(path)).status).toBe(403)
})

describe('an app', () => {
  const shownForm = (path: string) => formShownTo(admin, path)

  it('is created and edited in the console, and fields that are not edited stay unchanged', async () => {
    const fields = {
      ...(await shownForm('/console/-/apps/new')),
      name: '向日葵',
      hosts: 'a.example\r\nb.example',
      scopes: 'USER_INFO',
    }
    const made = await admin.post('/console/-/apps/new', { ...fields, app_key: 'made-here' })
    expect(made.text).toContain('class="button" href="/console/apps/made-here"')
    expect(made.status).toBe(200)
    expect(copied(made)).toEqual(['made-here', expect.stringMatching(/^ghas_\w{49}$/)])
    const path = '/console/apps/made-here/edit'
    const before = await shownForm(path)
    expect(before).toMatchObject({
      name: '向日葵',
      hosts: 'a.example\nb.example',
      refresh_days: '30',
      require_pkce: 'true',
    })
    const { answer, rows } = await change('/apps/made-here/edit', { ...before, hosts: 'b.example', refresh_days: '60' })
    expect(answer).toMatchObject({ status: 303, location: '/console/apps/made-here?done=1' })
    expect(rows).toMatchObject([{ detail: { after: { hosts: ['b.example'], refresh_days: 60 } } }])
    expect(Object.keys(rows[0].detail.after)).toEqual(['hosts', 'refresh_days'])
    expect((await change('/apps/made-here/edit', { ...(await shownForm(path)), logo_url: 'x' })).answer).toMatchObject({
      status: 400,
      text: expect.stringContaining('logo_url'),
    })
  })

  it('does not change if its checkboxes are sent in another order', async () => {
    await world.app.inject({
      ...{ method: 'POST', url: '/admin/v1/apps', headers: { authorization: `Bearer ${ADMIN_TOKEN}` } },
      payload: { app_key: 'ordered', name: 'Ordered', hosts: ['a.example'], scopes: ['PHONE_NUMBER', 'USER_INFO'] },
    })
    const before = await shownForm('/console/apps/ordered/edit')
    const scopes = 'USER_INFO\r\nPHONE_NUMBER'
    const { rows } = await change('/apps/ordered/edit', { ...before, name: 'Renamed', scopes })
    expect(rows).toMatchObject([{ detail: { after: { name: 'Renamed' } } }])
    expect(Object.keys(rows[0].detail.after)).toEqual(['name'])
  })

  it('shows its team on its page', async () => {
    const page = '/console/apps/made-here'
    const before = (await viewer.get(page)).text
    expect(before).toMatch(/<dt>Team<\/dt><dd[^>]*>–</)
    expect(before).toContain('<a href="/console/teams">Teams of developers</a>')
    const { rows } = await world.pool.query('select team_id from team limit 1')
    await world.pool.query("update team set name = 'Harbour tours'")
    expect((await admin.submit(`${page}/give`, { team_id: rows[0].team_id })).location).toBe(`${page}?done=1`)
    const after = (await viewer.get(page)).text
    expect(after).toMatch(/<dt>Team<\/dt><dd[^>]*>Harbour tours</)
    expect(after).toContain(`<a href="/console/teams/${rows[0].team_id}">Team</a>`)
  })

  it('that somebody else has changed meanwhile is not changed by an outdated form', async () => {
    const path = '/console/apps/made-here/edit'
    const [mine, theirs] = [await shownForm(path), await shownForm(path)]
    world.clock.advance(1)
    expect((await admin.post(path, { ...theirs, name: 'Theirs' })).status).toBe(303)
    const refused = await admin.post(path, { ...mine, refresh_days: '90' })
    expect(refused.status).toBe(400)
    expect(refused.text).toContain('Somebody else has changed this meanwhile')
    expect(refused.text).toContain('is now “60”; your form said “90”')
    expect(await shownForm(path)).toMatchObject({ name: 'Theirs', refresh_days: '60' })
    // That page shows the current state, so sending it again does not undo their changes.
    expect(refused.text).toContain('value="Theirs"')
  })

  it.each([
    ['micro-app', '/console/-/apps/new', { name: 'Twice', hosts: 'a.example', scopes: 'USER_INFO' }, 'micro_app'],
    ['partner', '/console/-/partners/new', { name: 'Twice' }, 'partner'],
  ])('or a partner is created only once by a form that is sent twice: %s', async (_what, path, fields, table) => {
    const form = { ...(await shownForm(path)), ...fields }
    expect(await admin.post(path, form)).toMatchObject({ status: 200, text: expect.stringContaining('shown only now') })
    expect(await admin.post(path, form)).toMatchObject({ status: 400, text: expect.stringContaining('already taken') })
    expect((await world.pool.query(`select 1 from ${table} where name = 'Twice'`)).rowCount).toBe(1)
  })

  it('cannot be created or edited without the role, which is offered no form', async () => {
    expect((await viewer.get('/console/apps')).text).not.toContain('/console/-/apps/new')
    expect((await viewer.get('/console/-/apps/new')).status).toBe(403)
    expect((await support.get('/console/apps/made-here')).text).not.toContain('/edit')
    expect((await support.get('/console/apps/made-here/edit')).status).toBe(403)
  })

  it('is not updated over /admin/v1 if it has changed since unchanged_since', async () => {
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}` }
    const url = '/admin/v1/apps/made-here'
    const { updated_at } = (await world.app.inject({ url, headers })).json().data
    const patch = (payload: object) => world.app.inject({ method: 'PATCH', url, headers, payload })
    world.clock.advance(1)
    expect((await patch({ name: 'Again', unchanged_since: updated_at })).statusCode).toBe(200)
    const late = await patch({ name: 'Late', unchanged_since: updated_at })
    expect([late.statusCode, late.json().data.problems]).toEqual([
      400,
      [
        {
          field: 'unchanged_since',
          problem: expect.stringMatching(/^does not hold: it was changed at .*; nothing was done$/),
        },
      ],
    ])
    expect((await world.app.inject({ url, headers })).json().data.name).toBe('Again')
  })
})
