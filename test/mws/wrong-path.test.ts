import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { showEntry } from '../../src/sandbox/portal/traffic/entry.ts'
import { listTraffic } from '../../src/sandbox/portal/traffic/list.ts'
import { trafficQuery } from '../../src/sandbox/portal/traffic/wire.ts'
import { listNotices } from '../../src/ticketing/mtp/received.ts'
import { openWorld, type World } from '../harness.ts'
import { type FakeSeller, fakeSeller } from '../partner-calls/fake-seller.ts'
import { sendNotice } from '../sandbox/notices.ts'
import { signedHeaders } from '../signer.ts'

/** Calls to paths that do not exist are stored, so that the partner that sent them can see them. */

let world: World
let seller: FakeSeller
beforeAll(async () => {
  world = await openWorld({ MTP_PATH_PREFIXES: '/rhone' })
  seller = await fakeSeller(world, 7001)
})
beforeEach(async () => {
  await world.pool.query('truncate rejected_call')
  world.clock.advance(2 * 86_400)
})
afterAll(async () => {
  await seller.close()
  await world.close()
})

const lines = async () => (await listTraffic(world.deps, 7001n, trafficQuery.parse({}))).lines
const none = { code: 404, describe: 'no such path', partnerId: '7001' }

describe('a notice with a valid signature but a refused Date', () => {
  it('is listed for operators with the reason, unlike one with an invalid signature', async () => {
    const path = '/mtp/api/order/consume/notice'
    const old = new Date(world.clock.now().getTime() - 3_600_000).toUTCString()
    const french = 'mer., 25 nov. 2026 10:00:00 GMT'
    for (const date of [old, french]) {
      await sendNotice(world, seller, { path, body: '{}', signing: { date }, headers: { Date: date } })
    }
    await sendNotice(world, seller, { path, body: '{}', signing: { secret: 'a guess' } })
    await sendNotice(world, seller, { path, body: '{}', signing: { secret: 'a guess' }, headers: { Date: old } })
    const { notices: listed } = await listNotices(world.deps, listNotices.input.parse({ partner_id: 7001 }))
    expect(listed.map(({ refused }) => refused).sort()).toEqual([
      expect.stringMatching(/^Date differs from our clock by 3600 seconds/),
      expect.stringMatching(/^Date: /),
    ])
  })
})

describe('a call to a path that does not exist', () => {
  it.each(['/mtp/api/order/consume', '/rhone/mtp/api/order/consume', '/rhone/order/consume/notice'])(
    '%s: is stored with the path that was meant',
    async (path) => {
      expect(await sendNotice(world, seller, { path, body: '{"body":{}}' })).toEqual(none)
      const [line, ...more] = await lines()
      expect(more).toEqual([])
      const meant = `${path.startsWith('/rhone') ? '/rhone' : ''}/mtp/api/order/consume/notice`
      const detail = `no such path; the nearest path is POST ${meant}`
      expect(line).toMatchObject({ kind: 'rejected', name: path, code: 404, status: 404, verified: true, detail })
      const entry = await showEntry(world.deps, 7001n, { kind: 'rejected', id: String(line?.id) })
      expect(entry).toMatchObject({ code: 404, obstacle: 'not-a-notice', response: { status: 404 } })
      expect(entry.request.body.text).toBe('(not read: the path does not exist)')
    },
  )

  it.each([
    '/sandbox/api/order/consume/notice',
    '/sandbox/order/consume/notice',
    '/rhone-doc/order/consume/notice',
    '/test/push/rhone/order/consume/notice',
    '/order/consume/notice?x=1',
    '/oauth/v2/order/consume/notice',
    '/console/order/consume/notice',
    '/admin/v1/order/consume/notice',
  ])('%s: is outside area B, but recognised by its Authorization header', async (path) => {
    expect(
      await sendNotice(world, seller, { path, body: '{"body":{}}', signing: { path: path.replace('?x=1', '') } }),
    ).toEqual(none)
    const detail = expect.stringMatching(
      /^no such path; the nearest path is POST .*\/mtp\/api\/order\/consume\/notice$/,
    )
    expect(await lines()).toMatchObject([{ kind: 'rejected', code: 404, status: 404, verified: true, detail }])
    const date = world.clock.now().toUTCString()
    for (const authorization of ['MWS seller-7001:xxxx', 'mws nobody:xxxx', 'MWS']) {
      const answer = await world.app.inject({ method: 'GET', url: path, headers: { authorization, date } })
      expect([answer.statusCode, answer.json()]).toEqual([404, { ...none, partnerId: '' }])
    }
    await world.deps.incoming.rejected.finish()
    expect((await lines()).map(({ verified }) => verified).sort()).toEqual([false, true])
  })

  it.each([
    ['/sandbox/nothing', {}],
    ['/sandbox/nothing', { authorization: 'Basic eA==' }],
    ['/oauth/v2/nothing', { authorization: 'Bearer MWS x:y' }],
    ['/console/nothing', {}],
    ['/nothing', { authorization: 'MWSX x:y' }],
    ['/oauth/v2/api/token', { authorization: 'MWS seller-7001:xxxx' }],
    ['/healthz', { authorization: 'MWS seller-7001:xxxx' }],
  ])('%s with %j: is answered by another area', async (url, headers) => {
    const answer = await world.app.inject({
      method: 'DELETE',
      url,
      headers: { accept: 'application/json', ...headers },
    })
    expect([404, 405]).toContain(answer.statusCode)
    expect(answer.body).not.toContain('"describe"')
    await world.deps.incoming.rejected.finish()
    expect(await lines()).toEqual([])
  })

  it('of the first protocol version is stored with the text of the answer', async () => {
    await sendNotice(world, seller, { path: '/rhone/lv/order/consume/notice', body: '{}' })
    expect(String((await lines())[0]?.detail)).toMatch(
      /first version .* the nearest path is POST \/rhone\/mtp\/api\/order\/cons/,
    )
  })

  it('is not verified if the signature or the Date is invalid', async () => {
    const path = '/mtp/api/order/consume'
    const old = new Date(world.clock.now().getTime() - 3_600_000).toUTCString()
    await sendNotice(world, seller, { path, body: '{}', signing: { secret: 'a guess' } })
    await sendNotice(world, seller, { path, body: '{}', signing: { date: old }, headers: { Date: old } })
    expect((await lines()).map(({ verified }) => verified)).toEqual([false, false])
  })

  it('with an unknown clientId, or without one, is not stored', async () => {
    for (const Authorization of ['MWS nobody:xxxx', 'Basic eA==', '']) {
      const headers = { Authorization }
      expect(await sendNotice(world, seller, { path: '/mtp/api/x', body: '{}', headers })).toEqual(none)
    }
    expect(await lines()).toEqual([])
  })

  it('is stored up to a limit, beyond which calls are only counted', async () => {
    for (let times = 0; times < 60; times++) {
      await sendNotice(world, seller, { path: `/mtp/api/x${times}`, body: '{}', signing: { secret: 'a guess' } })
    }
    const { rows } = await world.pool.query('select from rejected_call where left_out is null')
    expect(rows.length).toBeLessThanOrEqual(25)
    await world.deps.incoming.rejected.finish()
    const counted = await world.pool.query('select sum(left_out)::int as calls from rejected_call')
    expect(counted.rows[0].calls).toBe(60 - rows.length)
  })
})

describe('a call with a wrong method to a path that exists', () => {
  const path = '/rhone/mtp/api/order/consume/notice'
  const call = (method: 'GET' | 'PUT', secret = seller.secret) => {
    const date = world.clock.now().toUTCString()
    const partner = { partnerId: '7001', clientId: 'seller-7001', clientSecret: secret }
    const headers = { ...signedHeaders(partner, { path, date, method }), 'content-type': 'application/json' }
    return world.app.inject({ method, url: path, headers, ...(method === 'PUT' ? { payload: '{"body":{}}' } : {}) })
  }

  it.each(['GET', 'PUT'] as const)('%s: is stored with its method, and reported like a wrong path', async (method) => {
    const answer = await call(method)
    expect([answer.statusCode, answer.headers.allow]).toEqual([405, 'POST'])
    expect(answer.json()).toEqual({ code: 300, describe: 'method not allowed; use POST', partnerId: '7001' })
    await world.deps.incoming.rejected.finish()
    const [line, ...more] = await lines()
    expect(more).toEqual([])
    const detail = `method not allowed: ${method}; use POST`
    expect(line).toMatchObject({ kind: 'rejected', name: 'consume', code: 300, status: 405, verified: true, detail })
    const entry = await showEntry(world.deps, 7001n, { kind: 'rejected', id: String(line?.id) })
    expect(entry.request.method).toBe(method)
    expect(JSON.stringify(entry.request.headers)).toMatch(/content-type.{1,5}application\/json/i)
    expect(entry.stringToSign).toMatch(new RegExp(`^${method} ${path}\n`))
    expect(entry.request.body.text).toBe(method === 'PUT' ? '(not kept: the method is not POST)' : '')
    const { rows } = await world.pool.query('select wrong_path from refused_notice')
    expect(rows).toEqual([{ wrong_path: true }])
  })

  it('is not verified if the signature is invalid', async () => {
    await call('GET', 'a guess')
    await world.deps.incoming.rejected.finish()
    expect((await lines()).map(({ verified }) => verified)).toEqual([false])
  })
})

describe('a flood of calls to wrong paths', () => {
  it('is answered at once, and only a few of the calls are stored', async () => {
    const sent = await Promise.all(
      Array.from({ length: 200 }, (_, at) =>
        world.app.inject({
          method: 'POST',
          url: `/mtp/api/x${at}`,
          headers: { authorization: 'MWS seller-7001:xxxx', date: world.clock.now().toUTCString() },
        }),
      ),
    )
    expect(new Set(sent.map(({ statusCode }) => statusCode))).toEqual(new Set([404]))
    await world.deps.incoming.rejected.finish()
    expect((await lines()).length).toBeLessThanOrEqual(26)
  })

  it('does not store a secret that is part of a path', async () => {
    await sendNotice(world, seller, { path: `/mtp/api/${encodeURIComponent(seller.secret)}`, body: '{}' })
    const { rows } = await world.pool.query('select * from rejected_call')
    expect(JSON.stringify(rows)).not.toContain('secret-of-7001')
  })
})
