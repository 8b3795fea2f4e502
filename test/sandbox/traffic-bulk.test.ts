import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { findPartner, type PartnerWithSecrets } from '../../src/ticketing/partners/partner.ts'
import { openWorld, type World } from '../harness.ts'
import { callPartner } from '../partner-calls/calls.ts'
import { type FakeSeller, fakeSeller, ok, status } from '../partner-calls/fake-seller.ts'
import { sendNotice } from './notices.ts'
import { FORM, get, sellerSession } from './partners.ts'

const CHANGE = '/mtp/api/deal/change/notice'

let world: World
let seller: FakeSeller
let other: FakeSeller
let partner: PartnerWithSecrets
let cookie: string
let stranger: string
beforeAll(async () => {
  world = await openWorld({ PARTNER_ADDRESS_ALLOW: '127.0.0.1' })
  seller = await fakeSeller(world, 7001)
  other = await fakeSeller(world, 7002)
  partner = (await findPartner(world.deps, 7001n)) as PartnerWithSecrets
  cookie = await sellerSession(world, seller)
  stranger = await sellerSession(world, other)
  seller.on('/order/query', status(500, {}, seller.secret))
  await callPartner(world.deps, partner, 'heartbeat', {})
  world.clock.advance(1)
  await callPartner(world.deps, partner, 'order-query', { orderId: 9007199254740993n, partnerOrderId: '' })
  world.clock.advance(1)
  await sendNotice(world, seller, { path: `${CHANGE}?a=b`, body: `{"body":"${seller.secret}"}` })
})
beforeEach(() => world.clock.advance(61))
afterAll(async () => {
  await seller.close()
  await other.close()
  await world.close()
})

describe('an export', () => {
  const exported = async (format: string, query = '', by = cookie) =>
    get(world, `/sandbox/traffic/export/${format}${query}`, by)

  it('as NDJSON has one call per line, newest first, with bodies as they came and no secret', async () => {
    const answer = await exported('ndjson')
    expect(answer.headers).toMatchObject({
      'content-type': 'application/x-ndjson; charset=utf-8',
      'content-disposition': 'attachment; filename="traffic.ndjson"',
      'cache-control': 'no-store',
    })
    expect(answer.body).not.toContain(seller.secret.slice(0, 14))
    const lines = answer.body
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(lines.map(({ name }) => name)).toEqual(['deal-change', 'order-query', 'heartbeat'])
    expect(lines[1]).toMatchObject({
      kind: 'call',
      direction: 'out',
      outcome: 'failed',
      request: { method: 'POST', url: `${seller.url}/order/query`, body: expect.stringContaining('9007199254740993') },
      response: { status: 500, body: '[secret]' },
    })
  })

  it('as HAR 1.2 is one document with all the fields that its readers need', async () => {
    const { log } = JSON.parse((await exported('har')).body)
    expect(log).toMatchObject({ version: '1.2', creator: { name: 'Gatehouse' } })
    expect(log.entries).toHaveLength(3)
    for (const entry of log.entries) {
      expect(Object.keys(entry)).toEqual(
        expect.arrayContaining(['startedDateTime', 'time', 'request', 'response', 'cache', 'timings']),
      )
      expect(entry.request.url).toMatch(/^http:\/\//)
      expect(Array.isArray(entry.request.headers)).toBe(true)
      expect(entry.response.content).toMatchObject({ size: expect.any(Number), text: expect.any(String) })
    }
    expect(JSON.stringify(log)).not.toContain(seller.secret.slice(0, 14))
  })

  it('has the method of a call that is not a POST', async () => {
    const headers = { PartnerId: '7001', Date: 'x', Authorization: 'MWS seller-7001:wrong' }
    await world.app.inject({ url: '/sandbox/api/runs', headers })
    await world.deps.incoming.rejected.finish()
    const query = '?by=path&value=/sandbox/api'
    expect(JSON.parse((await exported('ndjson', query)).body).request).toMatchObject({ method: 'GET' })
    const { log } = JSON.parse((await exported('har', query)).body)
    expect(log.entries).toEqual([expect.objectContaining({ request: expect.objectContaining({ method: 'GET' }) })])
    await world.pool.query(`delete from rejected_call where path = '/sandbox/api/runs'`)
  })

  it('follows the filter and the search of the list', async () => {
    const count = async (query: string) => (await exported('ndjson', query)).body.split('\n').filter(Boolean).length
    expect(await count('?direction=in')).toBe(1)
    expect(await count('?by=path&value=/alive')).toBe(1)
    expect(await count('?by=order&value=x')).toBe(0)
    expect(JSON.parse((await exported('har', '?by=order&value=x')).body).log.entries).toEqual([])
  })

  it('has only the partner’s own calls, requires a session and a known format, and is possible six times a minute', async () => {
    expect((await exported('ndjson', '', stranger)).body).toBe('')
    expect((await exported('ndjson', '', '')).statusCode).toBe(302)
    expect((await exported('csv')).statusCode).toBe(404)
    const codes: number[] = []
    for (let times = 0; times < 7; times++) codes.push((await exported('har')).statusCode)
    expect(codes).toEqual([200, 200, 200, 200, 200, 200, 429])
  })

  it('ends after a thousand calls', async () => {
    await world.pool.query(
      `insert into partner_call (call_id, partner_id, interface, started_at, duration_ms, url, request_headers, request_body, cause)
       select gen_random_uuid(), 7002, 'heartbeat', $1::timestamptz + n * interval '1 s', 1, 'http://x/', '{}', '{}', 'playground'
       from generate_series(1, 1100) n`,
      [world.clock.now()],
    )
    const { body } = await exported('ndjson', '', stranger)
    expect(body.trim().split('\n')).toHaveLength(1_000)
  })
})

describe('several replays', () => {
  const send = (entries: readonly string[], by = cookie) =>
    world.app.inject({
      method: 'POST',
      url: '/sandbox/traffic/replay',
      payload: new URLSearchParams(entries.map((entry): [string, string] => ['entry', entry])).toString(),
      headers: { ...FORM, cookie: by, 'accept-language': 'en' },
    })
  const boxes = async () =>
    [...(await get(world, '/sandbox/traffic', cookie)).body.matchAll(/name="entry" value="([^"]+)"/g)].map(
      ([, entry]) => String(entry),
    )

  it('are chosen by checkboxes, and each reports its result', async () => {
    seller.on('/order/query', ({ orderId }) =>
      ok({ orderId, orderStatus: 4, orderQuantity: 1, usedQuantity: 0, refundedQuantity: 0 }),
    )
    const chosen = await boxes()
    expect(chosen).toHaveLength(3)
    const before = seller.calls.length
    const answer = await send(chosen)
    expect(answer.statusCode).toBe(303)
    expect(seller.calls.length).toBe(before + 2)
    const page = await get(world, String(answer.headers.location), cookie, { 'accept-language': 'en' })
    expect(page.body).toContain('Called again: this is the new call.')
    expect(page.body).toContain('Not replayed: this call cannot be replayed.')
    const links = [...page.body.matchAll(/<li><a href="(\/sandbox\/traffic\/[^"]+)"/g)].map(([, href]) => String(href))
    expect(links).toHaveLength(3)
    for (const link of links) expect((await get(world, link, cookie)).statusCode).toBe(200)
  })

  it('continue with the others when one call cannot be replayed', async () => {
    world.clock.advance(1)
    const { callId } = await callPartner(world.deps, partner, 'order-pay', { orderId: 1n, partnerOrderId: 'P' })
    const [one] = await boxes()
    const { headers } = await send([`call/${callId}`, 'call/00000000-0000-4000-8000-000000000000', String(one)])
    expect(String(headers.location)).toMatch(
      /one=impossible\.call\..*one=gone\.call\..*one=(done|refused|again|impossible)\./,
    )
  })

  it('may be one to ten', async () => {
    const [one = ''] = await boxes()
    for (const entries of [[], Array(11).fill(one), ['x'], [`call/'`]]) {
      const { headers } = await send(entries)
      expect(headers.location).toBe('/sandbox/traffic?chosen=wrongly')
    }
    expect((await get(world, '/sandbox/traffic?chosen=wrongly', cookie)).body).toContain('role="alert"')
  })

  it('do nothing for another partner, and their page shows nothing without valid results', async () => {
    const before = seller.calls.length
    const { headers } = await send(await boxes(), stranger)
    expect(String(headers.location)).not.toMatch(/one=(done|accepted|again|refused)/)
    expect(seller.calls.length).toBe(before)
    for (const query of ['', '?one=x', `?one=done.call.%3Cb%3E`]) {
      const page = await get(world, `/sandbox/traffic/replayed${query}`, cookie)
      expect([page.statusCode, page.body.includes('<li><a href="/sandbox/traffic/')]).toEqual([200, false])
    }
  })
})
