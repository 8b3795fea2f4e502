import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { setMemberRole } from '../../src/ticketing/members/change.ts'
import { findPartner } from '../../src/ticketing/partners/partner.ts'
import { MANY_CONNECTIONS, openWorld, type World } from '../harness.ts'
import { joined, memberSession } from '../members/people.ts'
import { type FakeSeller, fakeSeller, ok, refusal } from '../partner-calls/fake-seller.ts'
import { signedHeaders } from '../signer.ts'
import { get, post, type SandboxPartner } from './partners.ts'

let world: World
let seller: FakeSeller
let partner: SandboxPartner
let owner: string
let cookie: string
let partnerId = 7300
beforeAll(async () => {
  world = await openWorld({ ...MANY_CONNECTIONS, PARTNER_ADDRESS_ALLOW: '127.0.0.1' })
})
afterAll(() => world.close())
beforeEach(async () => {
  await world.pool.query('delete from failed_attempt')
  seller = await fakeSeller(world, ++partnerId)
  const found = await findPartner(world.deps, seller.partnerId)
  partner = { ...found, client_secret: seller.secret } as unknown as SandboxPartner
  owner = await joined(world, partner, 'owner@example.com')
  cookie = await memberSession(world, partner, 'owner@example.com')
  return () => seller.close()
})

const newest = async () =>
  /name="replaces" value="([^"]*)"/.exec((await get(world, '/sandbox/secret', cookie)).body)?.[1] ?? ''
const rotate = (replaces: string, headers = {}) =>
  post(world, '/sandbox/secret/rotate', { replaces }, { cookie, ...headers })
const act = (action: 'switch' | 'retire', headers = {}) =>
  post(world, `/sandbox/secret/${action}`, {}, { cookie, ...headers })
/** Whether a call signed with this secret is accepted. */
const verifies = async (secret: string) => {
  const date = world.clock.now().toUTCString()
  const signer = { partnerId: String(seller.partnerId), clientId: partner.client_id, clientSecret: secret }
  const headers = { ...signedHeaders(signer, { method: 'GET', path: '/sandbox/api/runs', date }) }
  const { code } = (await world.app.inject({ url: '/sandbox/api/runs', headers })).json()
  expect([200, 300]).toContain(code)
  return code === 200
}
const secretIn = (body: string) => /ghcs_[0-9A-Za-z]{49}/.exec(body)?.[0]
const secrets = async () =>
  (await findPartner(world.deps, seller.partnerId))?.secrets.map(({ secret, signs }) => ({ secret, signs }))
const refusedIn = async (send: (headers: object) => ReturnType<typeof rotate>, en: string, zh: string) => {
  for (const [language, said] of [
    ['en', en],
    ['zh-CN', zh],
  ] as const) {
    const { statusCode, body } = await send({ 'accept-language': language })
    expect([statusCode, body.includes(said)], body).toEqual([409, true])
    expect(secretIn(body)).toBeUndefined()
  }
}

describe('a rotation by an owner', () => {
  it('shows the new secret once; the old one signs until the test call passes, and works until it is retired', async () => {
    const shown = await rotate(await newest())
    expect(shown.statusCode).toBe(200)
    expect(shown.headers['cache-control']).toBe('no-store')
    const newSecret = String(secretIn(shown.body))
    const copied = [...shown.body.matchAll(/<pre[^>]* data-copy=[^>]*><code>([^<]*)</g)].map(([, text]) => text)
    expect(copied).toEqual([partner.client_id, newSecret])
    expect(shown.body, 'no link to the other language, which would lose the secret').not.toContain('hreflang')
    expect(await secrets()).toEqual([
      { secret: newSecret, signs: false },
      { secret: seller.secret, signs: true },
    ])
    expect((await get(world, '/sandbox/secret', cookie)).body).not.toContain(newSecret)
    expect((await act('switch')).headers.location).toBe('/sandbox/secret?done=switched')
    expect(await secrets()).toEqual([
      { secret: newSecret, signs: true },
      { secret: seller.secret, signs: false },
    ])
    expect((await act('retire')).headers.location).toBe('/sandbox/secret?done=retired')
    expect(await secrets()).toEqual([{ secret: newSecret, signs: true }])
    expect(await verifies(seller.secret)).toBe(false)
    expect(world.logged()).not.toContain(newSecret)
    expect(await statusOf()).toBe(200)
  })

  it('leaves the old secret valid for a day after the switch, and not a second longer', async () => {
    const newSecret = String(secretIn((await rotate(await newest())).body))
    world.clock.advance(2 * 86_400) // the day begins with the switch
    cookie = await memberSession(world, partner, 'owner@example.com')
    expect([await verifies(seller.secret), await verifies(newSecret)]).toEqual([true, true])
    await act('switch')
    world.clock.advance(86_399)
    expect([await verifies(seller.secret), await verifies(newSecret)]).toEqual([true, true])
    world.clock.advance(1)
    expect([await verifies(seller.secret), await verifies(newSecret)]).toEqual([false, true])
  })

  it('says which secret stops working at once when another one is created', async () => {
    const page = async () => (await get(world, '/sandbox/secret', cookie)).body
    const [waiting, old] = ['the waiting one stops working at once', 'the old one stops working at once']
    expect([(await page()).includes(waiting), (await page()).includes(old)]).toEqual([false, false])
    await rotate(await newest())
    expect([(await page()).includes(waiting), (await page()).includes(old)]).toEqual([true, false])
    await act('switch')
    expect([(await page()).includes(waiting), (await page()).includes(old)]).toEqual([false, true])
    await rotate(await newest())
    expect((await secrets())?.some(({ secret }) => secret === seller.secret)).toBe(false)
  })

  it('creates one secret when its form is sent several times, even simultaneously', async () => {
    const replaces = await newest()
    const answers = await Promise.all([1, 2, 3].map(() => rotate(replaces)))
    expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([200, 409, 409])
    await refusedIn(
      (headers) => rotate(replaces, headers),
      'Nothing was done: the clientSecret has changed',
      '未执行操作',
    )
  })

  it('changes nothing when the test call fails', async () => {
    await rotate(await newest())
    const before = await secrets()
    seller.on('/alive', refusal(300))
    await refusedIn((headers) => act('switch', headers), 'The test call failed', '测试调用未通过')
    expect(await secrets()).toEqual(before)
    seller.on('/alive', ok({}))
  })

  it('does not switch for a member who is no longer an owner when the test call returns', async () => {
    await rotate(await newest())
    const before = await secrets()
    seller.on('/alive', async () => {
      await setMemberRole(world.deps, seller.partnerId, owner, 'developer')
      return ok({})
    })
    const answer = await act('switch', { 'accept-language': 'en' })
    expect([answer.statusCode, answer.body.includes('You are no longer an owner')]).toEqual([409, true])
    expect(await secrets()).toEqual(before)
  })

  it('refuses to switch or retire when there is nothing to do', async () => {
    await refusedIn((headers) => act('switch', headers), 'Nothing was done', '未执行操作')
    await refusedIn((headers) => act('retire', headers), 'Nothing was done', '未执行操作')
    await rotate(await newest())
    await refusedIn((headers) => act('retire', headers), 'Nothing was done', '未执行操作')
  })

  it('can be tried at most six times a minute', async () => {
    const answers: number[] = []
    for (let tries = 0; tries < 7; tries++) answers.push((await rotate('x')).statusCode)
    expect(answers).toEqual([...Array(6).fill(409), 429])
    const limited = await rotate('x', { 'accept-language': 'zh-CN' })
    expect(limited.headers['retry-after']).toBe('60')
    expect(limited.body).toContain('操作过于频繁')
  })

  it('is in the audit log with the owner who did it', async () => {
    await rotate(await newest())
    await act('switch')
    const { rows } = await world.pool.query(
      "select event, actor, actor_name as by from audit_event where partner_id = $1 and event ~ '^partner_(secret|signing)_'",
      [String(seller.partnerId)],
    )
    const events = rows.map(({ event }) => event).sort()
    expect(events).toEqual(['partner_secret_rotated', 'partner_signing_switched'])
    for (const { actor, by } of rows) expect([actor, by]).toEqual(['partner', owner])
  })
})

const statusOf = async () => (await get(world, '/sandbox', cookie)).statusCode
