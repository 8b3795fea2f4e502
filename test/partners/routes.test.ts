import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { partnerActions } from '../../src/ticketing/partners/actions.ts'
import { createPartner } from '../../src/ticketing/partners/partner.ts'
import type { TestCall } from '../../src/ticketing/partners/secret.ts'
import { newPartner } from '../../src/ticketing/partners/wire.ts'
import { ADMIN_TOKEN, openWorld, type World } from '../harness.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

const authorized = { authorization: `Bearer ${ADMIN_TOKEN}` }
const BIG = '8985652356562370001'

async function call(method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE', path: string, body?: object) {
  const response = await world.app.inject({
    method,
    url: `/admin/v1${path}`,
    headers: authorized,
    ...(body ? { payload: body } : {}),
  })
  return { status: response.statusCode, ...response.json() }
}

describe('/admin/v1/partners', () => {
  it('creates, lists, shows, changes, suspends and activates partners, and sets stages, contacts and secrets', async () => {
    const created = await call('POST', '/partners', { name: 'Sunny Tickets', partner_id: 7001, client_id: 'over-http' })
    expect(created).toMatchObject({ status: 200, rescode: 0, data: { partner_id: 7001, client_id: 'over-http' } })
    const path = '/partners/7001'
    expect(await call('GET', '/partners')).toMatchObject({ rescode: 0, data: { partners: [{ partner_id: 7001 }] } })
    const { client_secret, ...shown } = created.data
    expect(await call('GET', path)).toEqual({ status: 200, rescode: 0, data: shown })
    expect(shown).toMatchObject({ created_at: world.clock.now().toISOString(), secrets: [{ signs: true }] })
    expect(await call('PATCH', path, { name: 'New' })).toMatchObject({ data: { name: 'New', client_id: 'over-http' } })
    expect(await call('POST', `${path}/suspend`)).toMatchObject({ data: { status: 'suspended' } })
    expect(await call('POST', `${path}/activate`)).toMatchObject({ data: { status: 'active' } })
    expect(await call('POST', `${path}/stage`, { stage: 'live' })).toMatchObject({ data: { stage: 'live' } })
    const ann = { name: 'Ann', mail: 'ann@partner.example', webhook_url: null }
    expect(await call('PUT', `${path}/contacts/product`, ann)).toMatchObject({ data: { contacts: { product: ann } } })
    const rotated = await call('POST', `${path}/rotate-secret`, { overlap_s: 60 })
    expect(rotated).toMatchObject({ data: { secrets: [{ signs: false }, { signs: true, ends_at: null }] } })
    const again = await call('POST', `${path}/rotate-secret`)
    expect(again).toMatchObject({ status: 200, data: { secrets: [{}, {}] } })
    const logged = world.logged()
    const secrets = [client_secret, rotated.data.client_secret, again.data.client_secret]
    expect(new Set(secrets).size).toBe(3)
    for (const secret of secrets) expect(logged).not.toContain(secret)
    expect(logged).toContain('"partnerId":"7001"')
  })

  it('refuses to switch signing if no test call is possible, and to retire the secret that signs', async () => {
    const path = '/partners/7001'
    expect(await call('POST', `${path}/switch-signing`)).toMatchObject({
      status: 400,
      rescode: 20007,
      data: { message: expect.stringContaining('no URL is registered for heartbeat') },
    })
    expect(await call('POST', `${path}/retire-secret`)).toMatchObject({
      status: 400,
      data: { message: expect.stringContaining('run switch-signing first') },
    })
  })

  it('ends a stolen secret of a partner that cannot be called', async () => {
    const path = '/partners/7001'
    const { data } = await call('POST', `${path}/rotate-secret`, { overlap_s: 0 })
    const [{ secret_id }] = data.secrets
    const switched = await call('POST', `${path}/switch-signing`, { untested: true })
    expect(switched.data.secrets).toEqual([expect.objectContaining({ secret_id, signs: true, ends_at: null })])
    const recorded = "select detail from audit_event where event = 'partner_signing_switched'"
    expect((await world.pool.query(recorded)).rows).toContainEqual({ detail: { secret_id, untested: true } })
  })

  it('keeps ids exact in requests and answers, as numbers and as text', async () => {
    const payload = `{"name":"Big","partner_id":${BIG}}`
    const headers = { ...authorized, 'content-type': 'application/json' }
    const created = await world.app.inject({ method: 'POST', url: '/admin/v1/partners', headers, payload })
    expect(created.body).toContain(`{"rescode":0,"data":{"partner_id":${BIG},`)
    for (const path of ['/partners', `/partners/${BIG}`]) {
      const { body } = await world.app.inject({ url: `/admin/v1${path}`, headers: authorized })
      expect(body).toContain(`"partner_id":${BIG},`)
    }
    const text = await call('POST', '/partners', { name: 'Text', partner_id: '8985652356562370002' })
    expect(text).toMatchObject({ rescode: 0 })
    expect((await call('POST', `/partners/8985652356562370002/suspend`)).data.name).toBe('Text')
    expect(await call('GET', '/partners/8985652356562370000')).toMatchObject({ status: 404 })
  })

  it('reports all problems of an input at once', async () => {
    const bad = { client_id: 'a:b', interface_urls: { poi: 'ftp://x' }, colour: 'red' }
    expect(await call('POST', '/partners', bad)).toEqual({
      status: 400,
      rescode: 20007,
      data: {
        message: expect.stringContaining('Invalid request: client_id must have 1 to 64 visible ASCII characters'),
        problems: [
          { field: 'client_id', problem: expect.stringContaining('colons') },
          { field: 'name', problem: 'is required' },
          { field: 'interface_urls.poi', problem: 'must be an absolute http:// or https:// URL' },
          { field: 'colour', problem: 'is not a known field' },
        ],
      },
    })
    const taken = await call('POST', '/partners', { name: 'X', client_id: 'over-http' })
    expect(taken).toMatchObject({ status: 400, data: { problems: [{ field: 'client_id' }] } })
    for (const [method, path] of [
      ['PATCH', ''],
      ['POST', '/stage'],
      ['PUT', '/contacts/business'],
      ['POST', '/rotate-secret'],
    ] as const) {
      const answer = await call(method, `/partners/7001${path}`, { colour: 'red' })
      expect(answer).toMatchObject({ status: 400, rescode: 20007 })
      expect(answer.data.problems).toContainEqual({ field: 'colour', problem: 'is not a known field' })
    }
    expect(await call('POST', '/partners')).toMatchObject({
      data: { problems: [{ field: 'body', problem: 'is required' }] },
    })
  })

  it.each([
    ['application/json', '{"name":'],
    ['application/json', ''],
    ['application/json', '{"name":"X","name":"Y"}'],
    ['application/json', '{"name":"X","__proto__":{}}'],
    ['application/json', Buffer.from([0x22, 0xff, 0x22])],
    ['application/json', '['.repeat(10_000)],
    ['application/json', `"${'x'.repeat(2 * 1024 * 1024)}"`],
    ['text/plain', '{}'],
    ['application/xml', '<x/>'],
  ])('answers an unreadable body (%s, %.20s) with 20007', async (type, payload) => {
    const headers = { ...authorized, 'content-type': type }
    const response = await world.app.inject({ method: 'POST', url: '/admin/v1/partners', headers, payload })
    expect(response.statusCode).toBe(400)
    expect(response.json()).toMatchObject({ rescode: 20007 })
  })

  it('still reads the bodies for micro-apps', async () => {
    const body = { name: 'X', hosts: ['example.com'], scopes: ['USER_INFO'] }
    expect(await call('POST', '/apps', body)).toMatchObject({ status: 200, rescode: 0 })
  })

  it.each([
    ['GET', '/partners/7'],
    ['GET', '/partners/abc'],
    ['GET', '/partners/a%00b'],
    ['GET', '/partners/99999999999999999999999'],
    ['GET', '/partners/9223372036854775808'],
    ['PATCH', '/partners/7'],
    ['POST', '/partners/7/suspend'],
    ['POST', '/partners/7/activate'],
    ['POST', '/partners/7/rotate-secret'],
    ['POST', '/partners/7/switch-signing'],
    ['POST', '/partners/7/retire-secret'],
    ['PUT', '/partners/7001/contacts/boss'],
  ] as const)('%s %s is not found', async (method, path) => {
    const answer = await call(method, path, method === 'PATCH' ? {} : undefined)
    expect(answer).toMatchObject({ status: 404, rescode: 20007 })
  })

  it('is for operators only', async () => {
    for (const [method, url] of [
      ['GET', '/admin/v1/partners'],
      ['POST', '/admin/v1/partners/7001/rotate-secret'],
    ] as const) {
      const response = await world.app.inject({ method, url, headers: { authorization: 'Bearer wrong' } })
      expect(response.statusCode).toBe(401)
      expect(response.json()).toMatchObject({ rescode: 20015 })
    }
  })
})

it('switch-signing makes the test call that was passed to its actions', async () => {
  const { partner_id } = await createPartner(world.deps, newPartner.parse({ name: 'X' }))
  const seen: string[] = []
  const testCall: TestCall = async (partner, { secret }) => {
    seen.push(`${partner.partner_id} ${secret}`)
    return { ok: true, detail: '' }
  }
  const actions = partnerActions(
    () => testCall,
    async () => ({}),
  )
  const perform = (name: string) =>
    actions.find(({ route }) => route === `POST /partners/:partner_id/${name}`)?.perform(world.deps, { partner_id })
  const { client_secret } = { client_secret: '', ...(await perform('rotate-secret')) }
  expect(await perform('switch-signing')).toMatchObject({ secrets: [{ signs: true }, {}] })
  expect(seen).toEqual([`${partner_id} ${client_secret}`])
  expect(await perform('retire-secret')).toMatchObject({ secrets: [{ signs: true }] })
})
