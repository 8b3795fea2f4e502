import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findPartner } from '../../src/ticketing/partners/index.ts'
import { ADMIN_TOKEN, openWorld, type World } from '../harness.ts'
import { type Person, shownForm, signedIn } from './person.ts'

/** Partners are created and changed in the console: every command has a form. */

let world: World
let editor: Person
let support: Person
let viewer: Person
beforeAll(async () => {
  world = await openWorld()
  editor = (await signedIn(world, 'editor')).person
  support = (await signedIn(world, 'support')).person
  viewer = (await signedIn(world, 'viewer')).person
  const fields = { ...(await shownForm(editor, '/console/-/partners/new')), partner_id: '7001', name: '阳光票务' }
  expect((await editor.post('/console/-/partners/new', fields)).text).toMatch(/ghcs_\w{49}/)
})
afterAll(() => world.close())

const PAGE = '/console/partners/7001'
const partner = async () => {
  const found = await findPartner(world.deps, 7001n)
  if (!found) throw new Error('no partner')
  return found
}
/** Submits the form of a page with these fields changed. */
const change = async (path: string, fields: Record<string, string> = {}) =>
  editor.post(path, { ...(await shownForm(editor, path)), ...fields })

describe('a partner', () => {
  it('starts in the sandbox, with a form that has no contacts', async () => {
    expect(await partner()).toMatchObject({ name: '阳光票务', stage: 'sandbox', base_url: null, interface_urls: {} })
    const form = await shownForm(editor, '/console/-/partners/new')
    expect(form).toMatchObject({ stage: 'sandbox', base_url: '' })
    expect(form).not.toHaveProperty('contacts')
  })

  it('is edited, with one interface URL per line, and fields that are not edited stay unchanged', async () => {
    const urls = 'poi=https://a.example/poi\r\norder-pay=https://a.example/pay?a=b=c'
    const done = await change(`${PAGE}/edit`, { base_url: 'https://a.example', interface_urls: urls })
    expect(done).toMatchObject({ status: 303, location: `${PAGE}?done=1` })
    const interface_urls = { poi: 'https://a.example/poi', 'order-pay': 'https://a.example/pay?a=b=c' }
    expect(await partner()).toMatchObject({ name: '阳光票务', base_url: 'https://a.example', interface_urls })
    const { rows } = await world.pool.query("select detail from audit_event where event = 'partner_updated'")
    expect(Object.keys(rows.at(-1).detail.after).sort()).toEqual(['base_url', 'interface_urls'])
    expect((await support.get(PAGE)).text).toContain('https://a.example/pay?a=b=c')
    const page = await viewer.get(PAGE)
    expect(page.text).toContain('https://a.example/pay?…')
    expect(page.text).not.toContain('/edit')
    expect((await support.get(`${PAGE}/edit`)).status).toBe(403)
  })

  it('that somebody else has changed meanwhile is not changed by an outdated form, nor over /admin/v1', async () => {
    const [mine, theirs] = [await shownForm(editor, `${PAGE}/edit`), await shownForm(editor, `${PAGE}/edit`)]
    const { updated_at } = await partner()
    world.clock.advance(1)
    expect((await editor.post(`${PAGE}/edit`, { ...theirs, name: 'Theirs' })).status).toBe(303)
    const refused = await editor.post(`${PAGE}/edit`, { ...mine, base_url: '' })
    expect([refused.status, (await partner()).base_url]).toEqual([400, 'https://a.example'])
    expect(refused.text).toContain('Somebody else has changed this meanwhile')
    const answer = await world.app.inject({
      method: 'PATCH',
      url: '/admin/v1/partners/7001',
      headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
      payload: { name: 'Mine', unchanged_since: updated_at.toISOString() },
    })
    expect(answer.json().data.problems).toEqual([
      { field: 'unchanged_since', problem: expect.stringMatching(/^does not hold: it was changed at /) },
    ])
    expect((await partner()).name).toBe('Theirs')
  })

  it('with a URL without TLS causes a warning', async () => {
    const warned = await change(`${PAGE}/edit`, { base_url: 'http://tickets.example.com' })
    expect([warned.status, warned.text]).toEqual([200, expect.stringContaining('is plain http')])
    expect((await partner()).base_url).toBe('http://tickets.example.com')
    expect((await change(`${PAGE}/edit`, { base_url: '' })).status).toBe(303)
  })

  it('has on its page only the commands that are possible now', async () => {
    const shown = async () => [
      ...(await editor.get(PAGE)).text.matchAll(/href="\/console\/partners\/7001\/([\w/-]+)"/g),
    ]
    const names = (await shown()).map(([, name]) => name)
    expect(names).toEqual(expect.arrayContaining(['edit', 'stage', 'suspend', 'aes-key/set', 'rotate-secret']))
    for (const none of ['activate', 'switch-signing', 'retire-secret', 'aes-key/remove'])
      expect(names).not.toContain(none)
    expect((await change(`${PAGE}/rotate-secret`)).text).toMatch(/ghcs_\w{49}/)
    expect((await shown()).map(([, name]) => name)).toContain('switch-signing')
    const refused = await change(`${PAGE}/switch-signing`)
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining('no URL is registered for Heartbeat')])
  })

  it('gets an AES key, which no later page shows', async () => {
    const path = `${PAGE}/aes-key/set`
    expect((await editor.get(path)).text).toMatch(/<input id="field-aes_key" name="aes_key" type="password" value=""/)
    const short = await change(path, { aes_key: 'too short a key' })
    expect(short.status).toBe(400)
    expect(short.text).not.toContain('too short a key')
    expect((await change(path, { aes_key: '0123456789abcdef' })).status).toBe(303)
    expect((await partner()).aes_key).toBe('0123456789abcdef')
    expect((await change(`${PAGE}/edit`, { encrypts_calls: 'true' })).status).toBe(303)
    expect((await change(`${PAGE}/make-aes-key`)).text).toContain((await partner()).aes_key ?? 'none')
    expect((await change(`${PAGE}/aes-key/remove`)).status).toBe(303)
    expect(await partner()).toMatchObject({ aes_key: null, encrypts_calls: false })
  })
})

describe('the contacts of a partner', () => {
  const path = `${PAGE}/contacts/product/set`

  it('are set and edited; the secret of a new webhook is shown once', async () => {
    const lin = { name: 'Lin', mail: 'lin@a.example', webhook_url: 'https://a.example/hook' }
    const made = await change(path, lin)
    expect(made.text).toMatch(/whsec_\S{20}/)
    expect(await shownForm(editor, path)).toMatchObject(lin)
    expect((await change(path, { name: 'Lin Wei' })).status).toBe(303)
    expect((await partner()).contacts).toEqual({ product: { ...lin, name: 'Lin Wei' } })
    expect((await change(`${PAGE}/contacts/product/rotate-webhook-secret`)).text).toMatch(/whsec_\S{20}/)
    expect((await editor.get(`${PAGE}/contacts/boss/set`)).status).toBe(404)
    expect((await viewer.get(PAGE)).text).not.toContain('lin@a.example')
    expect((await support.get(PAGE)).text).toContain('lin@a.example')
  })

  it('that somebody else has changed meanwhile are not changed by an outdated form', async () => {
    const [mine, theirs] = [await shownForm(editor, path), await shownForm(editor, path)]
    world.clock.advance(1)
    expect((await editor.post(path, { ...theirs, mail: 'theirs@a.example' })).status).toBe(303)
    const refused = await editor.post(path, { ...mine, name: 'Mine' })
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining('value="theirs@a.example"')])
    expect((await partner()).contacts.product).toMatchObject({ name: 'Lin Wei', mail: 'theirs@a.example' })
  })
})

it('members are invited and removed', async () => {
  const list = `${PAGE}/members`
  const refused = await change(`${list}/new`, { mail: 'dev@a.example', role: 'developer' })
  expect([refused.status, refused.text]).toEqual([400, expect.stringContaining('the first member must be an owner')])
  const invited = await change(`${list}/new`, { mail: 'owner@a.example', role: 'owner' })
  expect(invited).toMatchObject({ status: 303, location: `${list}?done=1` })
  expect((await viewer.get(list)).text).not.toMatch(/owner@a\.example|\/remove/)
  const [, remove = ''] = /href="([^"]*\/members\/remove[^"]*)"/.exec((await editor.get(list)).text) ?? []
  expect((await change(remove.replaceAll('&amp;', '&'))).status).toBe(303)
  expect((await editor.get(list)).text).not.toContain('owner@a.example')
})

it('lists of notices, certificates and circuit breakers link to the partner and its traffic', async () => {
  expect((await viewer.get(`${PAGE}/notices`)).status).toBe(403)
  expect((await viewer.get(PAGE)).text).not.toContain('/notices')
  await world.pool.query(
    `insert into rejected_call (call_id, received_at, partner_id, client_id, path, reason, headers, body, answer, verified)
     select gen_random_uuid(), $1, partner_id, client_id, '/mtp/api/order/consume/notice',
       '{"id": "partner-id-missing", "values": {}}', '{}', '{}', '{}', true
     from partner`,
    [world.clock.now()],
  )
  const notices = await support.get(`${PAGE}/notices?kind=consume&ui_locales=zh-CN`)
  expect(notices.text).toMatch(/href="\/console\/traffic\/7001\/rejected\/[\w-]+"[\s\S]*缺少/)
  expect(notices.text).toContain(`href="${PAGE}"`)
  await world.pool.query(
    `insert into partner_certificate (partner_id, origin, ends_at, seen_at) values (7001, 'https://a.example', $1, $1)`,
    [world.clock.now()],
  )
  expect((await viewer.get('/console/partners/certificates?within_days=30')).text).toContain(`href="${PAGE}"`)
  const partners = (await viewer.get('/console/partners')).text
  for (const name of ['certificates', 'breakers']) expect(partners).toContain(`href="/console/partners/${name}"`)
})
