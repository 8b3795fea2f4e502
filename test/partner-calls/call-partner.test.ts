import { gzipSync } from 'node:zlib'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { storedDetail } from '../../src/platform/lib/localized-text.ts'
import { lastCallAbout } from '../../src/ticketing/partner-calls/call-store.ts'
import { findPartner } from '../../src/ticketing/partners/partner.ts'
import { openWorld } from '../harness.ts'
import { callAsWritten, callPartner } from './calls.ts'
import {
  drip,
  fakeSeller,
  hang,
  html,
  huge,
  Misbehaviour,
  ok,
  refusal,
  reset,
  status,
  worldWithSeller,
} from './fake-seller.ts'

const { world, seller, close } = await worldWithSeller()
afterAll(close)
beforeEach(() => {
  seller.calls.length = 0
})

const ORDER = 8_985_652_356_562_370_000n
const query = async (partnerId = 7001n, options: Parameters<typeof callPartner>[4] = { orderId: ORDER }) => {
  const partner = await findPartner(world.deps, partnerId)
  if (!partner) throw new Error('no such partner')
  return callPartner(world.deps, partner, 'order-query', { orderId: ORDER, partnerOrderId: 'P' }, options)
}
const queried = { orderId: ORDER, orderStatus: 4, orderQuantity: 2, usedQuantity: 0, refundedQuantity: '1' }
const recorded = async (callId: string) =>
  (await world.pool.query('select * from partner_call where call_id = $1', [callId])).rows[0]

const gzipped = status(200, { 'Content-Encoding': 'gzip' }, gzipSync('{"code":200}'))
/** As if set by both a program and a proxy in front of it. */
const codedTwice = (coding: string, body: string | Buffer) =>
  new Misbehaviour((response) => response.writeHead(200, { 'Content-Encoding': [coding, coding] }).end(body))
const tlsAlert = new Misbehaviour((_response, socket) => socket.end(Buffer.from('15030300020246', 'hex')))
const inGbk = status(200, {}, Buffer.from('{"code":200,"describe":"\xb3\xc9\xb9\xa6"}', 'latin1'))

describe('a call to a partner', () => {
  it('is signed with its path and Date, carries exact ids, and its answer is read by the interface definition', async () => {
    seller.on('/order/query', ok(queried))
    const result = await query()
    expect(result).toMatchObject({ outcome: 'success', answer: { body: { orderStatus: 4, refundedQuantity: 1 } } })
    expect(seller.calls).toMatchObject([
      {
        path: '/order/query',
        signedRight: true,
        partnerId: 7001,
        body: { orderId: ORDER, partnerOrderId: 'P' },
        headers: {
          partnerid: '7001',
          'content-type': 'application/json; charset=utf-8',
          date: 'Wed, 06 May 2026 10:34:20 GMT',
        },
      },
    ])
  })

  it.each([
    ['a NUL', '\0{"code":200}'],
    ['a control character', '{"code":200}\x1b[31m'],
    ['half of a surrogate pair', '{"code":200,"describe":"\ud83d'],
  ])('is recorded even if its answer is garbled by %s', async (_name, text) => {
    seller.on('/order/query', status(200, { 'Content-Type': 'application/json' }, text))
    const result = await query()
    expect(result).toMatchObject({ outcome: 'failed', failure: { kind: 'json', maybe_received: true } })
    const { failure_detail } = await recorded(result.callId)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the point of it
    expect(String(storedDetail.parse(failure_detail))).not.toMatch(/[\0-\x1f]/)
  })

  it('reads an answer with a repeated header', async () => {
    seller.on('/order/query', codedTwice('identity', JSON.stringify({ code: 200, body: { ...queried, orderId: '' } })))
    const result = await query()
    expect(result).toMatchObject({ outcome: 'success', answer: { body: { orderStatus: 4 } } })
    expect((await recorded(result.callId)).response_headers).toMatchObject({ 'content-encoding': 'identity, identity' })
  })

  it('is recorded in full, with secrets masked everywhere', async () => {
    seller.on('/order/query', ok({ ...queried, leak: `your secret is ${seller.secret}`, nul: 'x' }))
    const { callId } = await query()
    const row = await recorded(callId)
    expect(row).toMatchObject({
      partner_id: '7001',
      interface: 'order-query',
      order_id: String(ORDER),
      url: `${seller.url}/order/query`,
      request_body: `{"partnerId":7001,"body":{"orderId":${ORDER},"partnerOrderId":"P"}}`,
      http_status: 200,
      code: 200,
      failure: null,
    })
    expect(row.request_headers.Authorization).toMatch(/^MWS seller-7001:.{4}…$/)
    expect(row.response_body).toContain('your secret is [secret]')
    expect(JSON.stringify(row)).not.toContain('secret-of')
    expect(world.logged()).not.toContain('secret-of')
  })

  it('reports the problems of an answer without secrets that it repeats', async () => {
    seller.on('/order/query', ok({ ...queried, partnerOrderId: seller.secret }))
    const result = await query()
    expect(result).toMatchObject({
      outcome: 'failed',
      failure: {
        detail: 'body.partnerOrderId is [secret]; the call was about P',
        problems: [{ path: 'body.partnerOrderId', problem: 'is [secret]; the call was about P' }],
      },
    })
  })

  it('may be signed with another secret, for a test call', async () => {
    seller.on('/order/query', ok(queried))
    const { callId } = await query(7001n, { secret: 'the-new-one' })
    expect(seller.calls[0]?.signedRight).toBe(false)
    expect(JSON.stringify(await recorded(callId))).not.toContain('the-new-one')
  })

  it('distinguishes pending from failed', async () => {
    const partner = await findPartner(world.deps, 7001n)
    if (!partner) throw new Error('no such partner')
    seller.on('/order/pay', refusal(598, 'issuing'))
    const result = await callPartner(world.deps, partner, 'order-pay', { orderId: ORDER, partnerOrderId: '' })
    expect(result).toMatchObject({ outcome: 'pending', code: 598, describe: 'issuing' })
    expect(await recorded(result.callId)).toMatchObject({ code: 598, failure: null })
  })

  it.each([
    ['http-status', 'HTTP status 500', status(500)],
    [
      'http-status',
      'HTTP status 302; redirects are not followed',
      status(302, { Location: 'http://169.254.169.254/' }),
    ],
    ['json', 'the response is not JSON: ', html],
    ['json', 'the response is compressed (Content-Encoding: gzip); send it uncompressed', gzipped],
    [
      'json',
      'the response is compressed (Content-Encoding: gzip, gzip); send it uncompressed',
      codedTwice('gzip', gzipSync(gzipSync('{"code":200}'))),
    ],
    ['json', 'the response is not valid UTF-8 (line 1, column 25)', inGbk],
    ['json', 'the response is JSON in which the name "code" appears twice', status(200, {}, '{"code":200,"code":200}')],
    ['json', 'the response is JSON with a string that contains', status(200, {}, '{"code":200,"describe":"\\u0000"}')],
    ['json', '(line 2, column 12)', status(200, {}, '{"code":200,\n"describe" "success"}')],
    ['too-large', 'the response is larger than 1 MiB: ', huge],
    ['broken', 'the connection closed before a complete HTTP response arrived', reset],
    ['broken', 'what came back is not a valid HTTP response', tlsAlert],
    [
      'schema',
      'body.orderStatus must be one of 2, 3, 4, 5, 6; body.usedQuantity is required',
      ok({ ...queried, orderStatus: 9, usedQuantity: undefined }),
    ],
    ['schema', `body.orderId is 7; the call was about ${ORDER}`, ok({ ...queried, orderId: 7n })],
    ['schema', 'code is required', {}],
    ['partner-code', '300 (error): no', refusal(300)],
    ['partner-code', '301 (no such order): gone', refusal(301, 'gone')],
  ])('reports how it failed: %s, %s', async (kind, detail, answer) => {
    seller.on('/order/query', answer)
    const result = await query()
    expect(result).toMatchObject({
      outcome: 'failed',
      failure: { kind, detail: expect.stringContaining(detail), maybe_received: true },
    })
    expect(await recorded(result.callId)).toMatchObject({
      failure: kind,
      failure_detail: expect.stringContaining(detail),
    })
    expect(seller.calls).toHaveLength(1)
    seller.on('/order/query', ok(queried))
    await query()
  })

  it('lists invalid fields one by one', async () => {
    seller.on('/order/query', ok({ ...queried, orderStatus: 9, orderQuantity: 'two' }))
    expect(await query()).toMatchObject({
      failure: {
        problems: [
          { path: 'body.orderStatus', problem: 'must be one of 2, 3, 4, 5, 6' },
          { path: 'body.orderQuantity', problem: 'must be a 32-bit integer, as a number or string' },
        ],
      },
    })
  })

  it.each([
    ['connect', 'http://127.0.0.1:1'],
    ['dns', 'http://nowhere.invalid'],
    ['address', 'http://10.0.0.1'],
    ['address', 'http://169.254.169.254'],
    ['address', 'http://[::ffff:127.0.0.2]'],
    ['address', 'http://2130706434'],
  ])('that cannot be made fails with %s before anything is sent: %s', async (kind, base_url) => {
    const id = 7100 + Math.floor(Math.random() * 1e6)
    const other = await fakeSeller(world, id, { fields: { base_url } })
    await other.close()
    expect(await query(BigInt(id))).toMatchObject({ failure: { kind, maybe_received: false } })
  })

  it('fails with tls if the server speaks no TLS, and with address without a URL or for an internal host name', async () => {
    const secure = await fakeSeller(world, 7011, { fields: { base_url: seller.url.replace('http:', 'https:') } })
    expect(await query(7011n)).toMatchObject({ failure: { kind: 'tls', maybe_received: false } })
    const bare = await fakeSeller(world, 7012, { fields: { base_url: null } })
    expect(await query(7012n)).toMatchObject({
      failure: { kind: 'address', detail: 'no URL is registered for order-query', maybe_received: false },
    })
    const strict = await openWorld({ DEMO: 'off' })
    const inside = await fakeSeller(strict, 7013, { host: 'localhost' })
    const partner = await findPartner(strict.deps, 7013n)
    if (!partner) throw new Error('no such partner')
    const result = await callPartner(strict.deps, partner, 'heartbeat', {})
    expect(result).toMatchObject({ failure: { kind: 'address', maybe_received: false } })
    expect(inside.calls).toEqual([])
    for (const { close } of [secure, bare, inside, strict]) await close()
  })

  it('that hangs or drips ends with a timeout', async () => {
    const dripping = await fakeSeller(world, 7021)
    dripping.on('/order/query', drip)
    seller.on('/order/query', hang)
    const [hung, dripped] = await Promise.all([query(), query(7021n)])
    for (const result of [hung, dripped]) {
      expect(result).toMatchObject({ failure: { kind: 'timeout', maybe_received: true } })
    }
    expect((await recorded(hung.callId)).duration_ms).toBeLessThan(60_000)
    expect((await recorded(dripped.callId)).duration_ms).toBeLessThan(60_000)
    await dripping.close()
  })
})

describe('the circuit breaker', () => {
  it('opens after five calls without an answer, lets one call try after 30 s, and closes once that is answered', async () => {
    const broken = await fakeSeller(world, 7031)
    broken.on('/order/query', status(502))
    for (let n = 0; n < 5; n++) expect(await query(7031n)).toMatchObject({ failure: { kind: 'http-status' } })
    const isOpen = { failure: { kind: 'breaker', maybe_received: false } }
    const result = await query(7031n)
    expect(result).toMatchObject(isOpen)
    expect(await recorded(result.callId)).toMatchObject({
      failure: 'breaker',
      http_status: null,
      response_headers: null,
    })
    expect(broken.calls).toHaveLength(5)
    world.clock.advance(31)
    const tries = await Promise.all([query(7031n), query(7031n), query(7031n)])
    expect(tries.map((one) => one.outcome === 'failed' && one.failure.kind).sort()).toEqual([
      'breaker',
      'breaker',
      'http-status',
    ])
    world.clock.advance(31)
    broken.on('/order/query', refusal(301))
    expect(await query(7031n)).toMatchObject({ failure: { kind: 'partner-code' } })
    expect(await query(7031n)).toMatchObject({ failure: { kind: 'partner-code' } })
    seller.on('/order/query', ok(queried))
    expect(await query()).toMatchObject({ outcome: 'success' })
    await broken.close()
  })
})

describe('the circuit breaker and error statuses', () => {
  it.each([400, 401, 404, 405])('stays closed for HTTP status %d, which shows that the partner is up', async (code) => {
    const other = await fakeSeller(world, 7040 + (code % 100))
    other.on('/order/query', status(code))
    const partner = BigInt(7040 + (code % 100))
    for (let n = 0; n < 6; n++) expect(await query(partner)).toMatchObject({ failure: { kind: 'http-status' } })
    await other.close()
  })

  it.each([429, 500, 503])(
    'opens after HTTP status %d, which means that the partner cannot answer now',
    async (code) => {
      const id = 7050 + (code % 100)
      const other = await fakeSeller(world, id)
      other.on('/order/query', status(code))
      for (let n = 0; n < 5; n++) await query(BigInt(id))
      expect(await query(BigInt(id))).toMatchObject({ failure: { kind: 'breaker' } })
      await other.close()
    },
  )
})

describe('a call with a hand-written body', () => {
  const TEXT = `{ "partnerId": 7001,\n  "body": {"orderId": ${ORDER}, "unitPrice": 1.10, "what": "游客"} }`
  const written = async (options: Parameters<typeof callAsWritten>[4] = {}) => {
    const partner = await findPartner(world.deps, 7001n)
    if (!partner) throw new Error('no such partner')
    return callAsWritten(world.deps, partner, 'order-query', TEXT, options)
  }

  it('is sent byte for byte, correctly signed, and its answer is read by the interface definition', async () => {
    seller.on('/order/query', ok(queried))
    const result = await written({ orderId: ORDER })
    expect(result).toMatchObject({ outcome: 'success', answer: { body: { orderStatus: 4 } } })
    expect(seller.calls).toMatchObject([{ path: '/order/query', signedRight: true, text: TEXT }])
    expect(await recorded(result.callId)).toMatchObject({ request_body: TEXT, by_hand: true, forged: null })
  })

  it('can be forged', async () => {
    seller.on('/order/query', refusal(300))
    const { callId } = await written({ forge: 'signature' })
    expect(seller.calls).toMatchObject([{ signedRight: false, text: TEXT }])
    expect(await recorded(callId)).toMatchObject({ forged: 'signature', by_hand: true })
  })

  it('is not the call that a test step repeats', async () => {
    seller.on('/order/query', ok(queried))
    const { callId } = await query()
    world.clock.advance(1)
    await written({ orderId: ORDER })
    expect(await lastCallAbout(world.deps.db, ORDER, 'order-query')).toMatchObject({ call_id: callId, by_hand: false })
  })
})
