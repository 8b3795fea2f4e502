import { randomUUID } from 'node:crypto'
import type { LightMyRequestResponse } from 'fastify'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openWorld, type World } from '../harness.ts'
import { type FakeSeller, fakeSeller, ok, refusal, reset, status } from '../partner-calls/fake-seller.ts'
import { textOf } from './pages/visitor.ts'
import { FORM, get, post, sellerSession } from './partners.ts'

const ORDER = 8_985_652_356_562_370_001n
const QUERY = '/sandbox/play/order-query'
const STATUS = { orderId: ORDER, orderStatus: 4, orderQuantity: 2, usedQuantity: 0, refundedQuantity: 0 }
const written = (fields: string, partnerId: unknown = 7001) => `{"partnerId": ${partnerId}, "body": {${fields}}}`
const ASK = written(`"orderId": ${ORDER}, "partnerOrderId": "P", "rate": 1.10`)
const NASTY = `</textarea><script>document.title='run'</script>"'&amp;`

let world: World
let seller: FakeSeller
let stranger: FakeSeller
let cookie: string
let strangerCookie: string
beforeAll(async () => {
  world = await openWorld({ PARTNER_ADDRESS_ALLOW: '127.0.0.1' })
  // What live partners may send is tested in play-guard.test.ts.
  seller = await fakeSeller(world, 7001, { fields: { stage: 'sandbox' } })
  stranger = await fakeSeller(world, 7002)
  cookie = await sellerSession(world, seller)
  strangerCookie = await sellerSession(world, stranger)
})
beforeEach(() => {
  world.clock.advance(61)
  seller.calls.length = 0
  seller.on('/order/query', ok(STATUS))
})
afterAll(async () => {
  await seller.close()
  await stranger.close()
  await world.close()
})

const english = { 'accept-language': 'en' }
const send = (fields: Record<string, string>, path = QUERY, by = cookie) =>
  post(world, path, fields, { cookie: by, ...english })
const open = (path: string, by = cookie) => get(world, path, by, english)
const follow = (answer: LightMyRequestResponse, by = cookie) => {
  expect(answer.statusCode).toBe(303)
  return open(String(answer.headers.location).replace(/#.*/, ''), by)
}
const newestCall = async () =>
  (await world.pool.query('select * from partner_call order by started_at desc, arrival desc limit 1')).rows[0]
const typedIn = ({ body }: LightMyRequestResponse) =>
  (/<textarea[^>]*>\n?([\s\S]*?)<\/textarea>/.exec(body)?.[1] ?? '').replace(/&quot;/g, '"')

describe('the playground', () => {
  it('lists the interfaces that have a URL, and is linked in the navigation', async () => {
    const page = await open('/sandbox/play')
    expect(page.statusCode).toBe(200)
    expect(page.body).toContain('href="/sandbox/play" aria-current="page"')
    expect(page.body.match(/href="\/sandbox\/play\/[a-z-]+"/g)).toHaveLength(14)
    expect(page.body).toContain(`${seller.url}/order/query`)
    expect((await get(world, '/sandbox/play', cookie, { 'accept-language': 'zh-CN' })).body).toContain('试一试')
  })

  it('starts with an example about a new order, and later with the body sent last', async () => {
    const fresh = typedIn(await open('/sandbox/play/order-reschedule'))
    expect(fresh).toContain('"partnerId": 7001')
    const body = '{\n  "partnerId": 7001,\n  "body": {"orderId": 8985652356562370123, "x": 1.10}\n}'
    await send({ body }, '/sandbox/play/order-reschedule')
    expect(typedIn(await open('/sandbox/play/order-reschedule'))).toBe(body)
    expect(typedIn(await open('/sandbox/play/order-reschedule?example=1'))).not.toContain('8985652356562370123')
    expect(typedIn(await open('/sandbox/play/order-reschedule', strangerCookie))).not.toContain('8985652356562370123')
  })

  it('sends the body as it was written, examines the answer as a run does, and links to Traffic', async () => {
    const page = await follow(await send({ body: ASK }))
    expect(seller.calls).toMatchObject([{ text: ASK, signedRight: true, partnerId: 7001 }])
    const call = await newestCall()
    expect(call).toMatchObject({ order_id: String(ORDER), verdict: 'passed', by_hand: true, request_body: ASK })
    expect(textOf(page)).toMatch(/All checks passed.*Passed checks: \d+/)
    expect(page.body).toContain(`href="/sandbox/traffic/call/${call.call_id}"`)
    expect(page.body).toContain('1.10')
    expect(page.body).not.toContain(seller.secret)
  })

  it('names what is wrong with an answer', async () => {
    seller.on('/order/query', ok({ ...STATUS, orderId: 5, orderStatus: 'paid' }))
    const text = textOf(await follow(await send({ body: ASK })))
    expect(text).toMatch(/Failed checks: \d/)
    expect(text).toContain('body.orderStatus')
    expect(await newestCall()).toMatchObject({ verdict: 'failed' })
  })

  it.each([
    ['success', refusal(420), 'failed'],
    ['failure', refusal(420), 'passed'],
    ['failure', ok(STATUS), 'failed'],
  ])('judges an answer by the expectation %s', async (expectation, answer, verdict) => {
    seller.on('/order/query', answer)
    await send({ body: ASK, expect: expectation })
    expect(await newestCall()).toMatchObject({ verdict })
  })

  it.each([
    ['success', 598, 'failed'],
    ['later', 598, 'passed'],
    ['either', 598, 'passed'],
    ['later', 300, 'failed'],
  ])(
    'judges an answer that may come later by the expectation %s: code %i has %s',
    async (expectation, code, verdict) => {
      seller.on('/order/pay', { ...refusal(code), partnerId: '7001' })
      await send({ body: ASK, expect: expectation }, '/sandbox/play/order-pay')
      expect(await newestCall()).toMatchObject({ verdict, interface: 'order-pay' })
    },
  )

  it.each([
    ['signature', refusal(300, 'BA verification failed'), 'passed'],
    ['signature', ok(STATUS), 'failed'],
    ['client', status(401), 'passed'],
    ['client', ok(STATUS), 'warning'],
    ['date', refusal(300, 'too old'), 'passed'],
    ['date', ok(STATUS), 'warning'],
  ] as const)('requires that a call with a wrong %s is refused', async (sign, answer, verdict) => {
    seller.on('/order/query', 'act' in answer ? answer : { ...answer, partnerId: '7001' })
    const page = await follow(await send({ body: ASK, sign, expect: 'success' }))
    expect(await newestCall()).toMatchObject({ forged: sign, verdict })
    expect(page.body).toContain(`value="${sign}" checked`)
    expect(seller.calls[0]?.signedRight).toBe(sign === 'date')
  })

  it('calls a program in the sandbox again at once, because it may have been restarted', async () => {
    seller.on('/order/query', reset)
    for (let times = 0; times < 6; times++) await send({ body: ASK })
    expect(seller.calls).toHaveLength(6)
    seller.on('/order/query', ok(STATUS))
    await send({ body: ASK })
    expect(await newestCall()).toMatchObject({ code: 200 })
  })

  it('does not stop calls because of refusals, so that orders of visitors do not wait', async () => {
    seller.on('/order/query', status(401))
    for (let times = 0; times < 6; times++) await send({ body: ASK, sign: 'signature' })
    expect(seller.calls).toHaveLength(6)
  })
})

describe('partnerId', () => {
  it.each([
    ['of another partner', written('"a": 1.10', 7002)],
    ['missing', '{"body": {"a": 1.10}}'],
    ['an object', written('"a": 1.10', '{}')],
    ['in the prototype', '{"__proto__": {"partnerId": 7001}, "body": {"a": 1.10}}'],
  ])('%s is replaced by the seller’s own; other numbers stay as written', async (_what, body) => {
    await send({ body })
    expect(seller.calls[0]?.partnerId).toBe(7001)
    expect(seller.calls[0]?.text).toContain('1.10')
    expect(seller.calls[0]?.text).not.toContain('7002')
  })
})

describe('nothing is sent', () => {
  it.each([
    ['not JSON', '{"a": }', /not JSON.*line 1/],
    ['empty', '', /empty/],
    ['a list', '[1]', /must be a JSON object/],
    ['a text', '"x"', /must be a JSON object/],
    ['null', 'null', /must be a JSON object/],
    ['JSON with a duplicate name', '{"a":1,"a":2}', /twice|duplicate/i],
    ['nested too deeply', `${'{"a":'.repeat(40)}1${'}'.repeat(40)}`, /32|deep/],
    ['JSON with a NUL', '{"a":"\\u0000"}', /body is/],
    ['too long', `{"a":"${'x'.repeat(16_384)}"}`, /more than 16,384/],
    ['markup', `{"a":${NASTY}`, /not JSON/],
  ])('for a body that is %s', async (_what, body, problem) => {
    const page = await send({ body })
    expect(page.statusCode).toBe(400)
    expect(textOf(page)).toMatch(problem)
    expect(page.body).not.toContain('<script>document')
    expect(seller.calls).toEqual([])
  })

  it.each([
    ['an unknown way to sign', { body: ASK, sign: 'twice' }, 400],
    ['an unknown expectation', { body: ASK, expect: 'luck' }, 400],
    ['no body', {}, 400],
  ])('for a request with %s', async (_what, fields, code) => {
    expect((await send(fields as Record<string, string>)).statusCode).toBe(code)
    expect(seller.calls).toEqual([])
  })

  it('to an interface that does not exist, or has no URL', async () => {
    await world.pool.query('update partner set base_url = null where partner_id = 7002')
    expect((await send({ body: ASK }, '/sandbox/play/nonsense')).statusCode).toBe(404)
    expect((await open('/sandbox/play/constructor')).statusCode).toBe(404)
    expect((await open(QUERY, strangerCookie)).statusCode).toBe(404)
    expect(textOf(await open('/sandbox/play', strangerCookie))).toContain('None of your interfaces has a URL')
    expect((await send({ body: ASK }, QUERY, strangerCookie)).statusCode).toBe(404)
    expect((await newestCall()).partner_id).not.toBe('7002')
    expect(seller.calls).toEqual([])
  })

  it('more than thirty times a minute', async () => {
    const answers = []
    for (let times = 0; times < 31; times++) answers.push((await send({ body: ASK })).statusCode)
    expect(answers).toEqual([...Array(30).fill(303), 429])
    expect(seller.calls).toHaveLength(30)
  })

  it('by a form of another site, or without a session', async () => {
    const payload = new URLSearchParams({ body: ASK }).toString()
    const headers = { ...FORM, cookie, 'sec-fetch-site': 'cross-site' }
    expect((await world.app.inject({ method: 'POST', url: QUERY, payload, headers })).statusCode).toBe(403)
    expect((await send({ body: ASK }, QUERY, '')).statusCode).toBe(303)
    expect(seller.calls).toEqual([])
  })
})

describe('a result', () => {
  it('is escaped and holds no secret, whatever the seller answers', async () => {
    seller.on('/order/query', ok({ ...STATUS, orderStatus: NASTY, leak: seller.secret }))
    const page = await follow(await send({ body: written(`"note": ${JSON.stringify(NASTY)}`) }))
    expect(page.body).not.toContain('<script>document')
    expect(page.body).not.toContain(seller.secret)
    expect(page.body).toContain('&lt;/textarea&gt;')
  })

  it('of another partner or interface, or of no call, is not found, and viewing a result again sends nothing', async () => {
    const answer = await send({ body: ASK })
    const [, id] = /call=([0-9a-f-]+)/.exec(String(answer.headers.location)) ?? []
    await follow(answer)
    await follow(answer)
    expect(seller.calls).toHaveLength(1)
    await world.pool.query(`update partner set base_url = 'http://127.0.0.1:9' where partner_id = 7002`)
    expect((await open(`${QUERY}?call=${id}`, strangerCookie)).statusCode).toBe(404)
    expect((await open(`/sandbox/play/order-pay?call=${id}`)).statusCode).toBe(404)
    expect((await open(`${QUERY}?call=${randomUUID()}`)).statusCode).toBe(404)
    expect((await open(`${QUERY}?call=x&expect=y`)).statusCode).toBe(200)
  })
})
