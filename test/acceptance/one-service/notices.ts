import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { seedOrder } from '../../orders/orders.ts'
import { signatureOf } from '../../signer.ts'
import { Client } from '../client.ts'
import { type Answer, header, httpWire } from '../http.ts'
import {
  BA_FAILED,
  CONSUME,
  consumption,
  failure,
  makeSeller,
  type Seller,
  type Sending,
  send,
  success,
} from '../seller.ts'
import { laterProcess, sharedSystem } from '../system.ts'

/** Good and bad headers, signatures, dates and content types, sent to a process whose clock says 6 May 2026. */

const OFFSET_S = Math.round((Date.UTC(2026, 4, 6, 10, 34, 20) - Date.now()) / 1000)
const clock = (secondsLater = 0): Date => new Date(Date.now() + (OFFSET_S + secondsLater) * 1000)

let origin: string
let pool: pg.Pool
let client: Client
let seller: Seller
let other: Seller

beforeAll(async () => {
  const { databaseUrl } = await sharedSystem()
  origin = (await laterProcess(OFFSET_S, 'native')).origin
  pool = new pg.Pool({ connectionString: databaseUrl, max: 1 })
  client = new Client(httpWire(origin), origin)
  seller = await makeSeller(client, { client_id: 'seller' })
  other = await makeSeller(client, { client_id: 'other' })
})
afterAll(async () => {
  await pool?.end()
})

let last = 8985652356562390000n
async function newOrder(): Promise<bigint> {
  const orderId = ++last
  await seedOrder(pool, { orderId, partnerId: Number(seller.partnerId), quantity: 3 })
  return orderId
}

const usedOf = async (orderId: bigint): Promise<number> =>
  (await pool.query('select used_quantity from ticket_order where order_id = $1', [String(orderId)])).rows[0]
    .used_quantity

const post = (sending: Sending, by = seller): Promise<Answer> => send(origin, by, sending, clock())

function expectAnswer(answer: Answer, text: string, status = 200): void {
  expect(answer.text).toBe(text)
  expect(answer.status).toBe(status)
  expect(header(answer, 'content-type')).toBe('application/json; charset=utf-8')
  expect(header(answer, 'cache-control')).toBe('no-store')
  expect(header(answer, 'x-request-id')).not.toBe('')
}

async function expectAccepted(sending: Sending, by = seller): Promise<void> {
  const orderId = await newOrder()
  expectAnswer(await post({ body: consumption({ orderId }), ...sending }, by), success(by))
  expect(await usedOf(orderId)).toBe(1)
}

/** `claimed` is the partnerId that the caller claimed, which the answer repeats. */
async function expectRefused(sending: Sending, by = seller, claimed = by.partnerId): Promise<void> {
  const orderId = await newOrder()
  const answer = await post({ body: consumption({ orderId }), ...sending }, by)
  expectAnswer(answer, failure({ ...by, partnerId: claimed }, BA_FAILED))
  expect(await usedOf(orderId)).toBe(0)
}

describe('the envelope', () => {
  it('is byte for byte as the contract says', async () => {
    const { partnerId } = await makeSeller(client, { partner_id: 7101, client_id: 'exact' })
    expect(partnerId).toBe('7101')
    const rotated = await client.admin('POST', '/partners/7101/rotate-secret', {})
    const exact = { partnerId, clientId: 'exact', clientSecret: String(rotated.client_secret) }
    const orderId = ++last
    await seedOrder(pool, { orderId, partnerId: 7101, quantity: 3 })
    const answer = await post({ body: consumption({ orderId }) }, exact)
    expectAnswer(answer, '{"code":200,"describe":"success","partnerId":"7101"}')
  })
})

const PREFIXES = ['', '/rhone']

describe.each(PREFIXES)('under the prefix "%s"', (prefix) => {
  const path = prefix + CONSUME

  it('a correctly signed notice is accepted', () => expectAccepted({ path }))

  it.each<[string, Partial<Sending>]>([
    ['with a query that was not signed', { path: `${path}?trace=1` }],
    ['with a query that was signed', { path: `${path}?trace=1`, signed: { path: `${path}?trace=1` } }],
  ])('%s: accepted', (_name, sending) => expectAccepted({ path, ...sending }))

  it.each<[string, Partial<Sending>]>([
    ['another prefix signed', { signed: { path: (prefix === '' ? '/rhone' : '') + CONSUME } }],
    ['the prefix cut further', { signed: { path: path.replace('/mtp', '') } }],
    ['the full URL signed', { signed: { path: `https://gate.example${path}` } }],
    ['another query signed', { path: `${path}?a=1`, signed: { path: `${path}?a=2` } }],
    ['the path of another notice signed', { signed: { path: path.replace('consume', 'refund') } }],
    ['the newline missing', { signed: { newline: '' } }],
  ])('%s: refused', (_name, sending) => expectRefused({ path, ...sending }))

  it.each(['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])('%s is 405 with Allow', async (method) => {
    for (const tail of ['/deal/change/notice', '/order/consume/notice', '/order/refund/notice', '/order/test/ba']) {
      const answer = await post({ method, path: `${prefix}/mtp/api${tail}` })
      const text = failure(seller, 'method not allowed; use POST')
      expectAnswer(answer, method === 'HEAD' ? '' : text, 405)
      expect(header(answer, 'allow')).toBe('POST')
    }
  })

  it.each([
    '/x',
    '/',
    '',
    '/order/consume/notice/',
    '/order/consume',
    '/Order/consume/notice',
    '/order/:kind/notice',
    '/*',
    '/order/consume/notice*',
    '/order/:a(',
    '/*a/b',
    '/order/consume/n%6Ftice',
    '/order/consum%65/notice',
    '/order%2Fconsume/notice',
    '//order/consume/notice',
    '/order/consume/notice;a=b',
  ])('%s is 404, whether signed as sent or as the path that it resembles', async (tail) => {
    const signed = { path: `${prefix}/mtp/api/order/consume/notice` }
    for (const sending of [{ method: 'POST' }, { method: 'GET' }, { method: 'POST', signed }]) {
      const answer = await post({ ...sending, path: `${prefix}/mtp/api${tail}?secret=x` })
      expectAnswer(answer, failure(seller, 'no such path', 404), 404)
    }
  })
})

describe('headers', () => {
  it('PartnerId may be absent or have leading zeros', async () => {
    await expectAccepted({ headers: { PartnerId: undefined } })
    await expectAccepted({ headers: { PartnerId: `00${seller.partnerId}` } })
  })

  it.each<[string, (right: string) => string | string[] | undefined]>([
    ['missing', () => undefined],
    ['empty', () => ''],
    ['doubled', (right) => [right, right]],
    ['doubled, the second one wrong', (right) => [right, 'MWS seller:AAAAAAAAAAAAAAAAAAAAAAAAAAA=']],
    ['doubled, the first one wrong', (right) => ['MWS seller:AAAAAAAAAAAAAAAAAAAAAAAAAAA=', right]],
    ['without its scheme', (right) => right.slice(4)],
    ['with a lower-case scheme', (right) => right.replace('MWS', 'mws')],
    ['with two spaces', (right) => right.replace(' ', '  ')],
    ['with a tab', (right) => right.replace(' ', '\t')],
    ['of another scheme', (right) => right.replace('MWS', 'Basic')],
    ['without a colon', (right) => right.replace(':', '')],
    ['without a clientId', (right) => right.replace('seller', '')],
    ['without a signature', (right) => right.replace(/:.*/, ':')],
    ['with a signature cut', (right) => right.slice(0, -1)],
    ['with more behind the signature', (right) => `${right}=`],
    ['with a colon in the clientId', (right) => right.replace('seller', 'sel:ler')],
    ['with a colon behind the clientId', (right) => right.replace(':', '::')],
    ['with the clientId in another case', (right) => right.replace('seller', 'Seller')],
    ['of an unknown clientId', (right) => right.replace('seller', 'nobody')],
    ['with bytes beyond ASCII', (right) => right.replace('seller', 's\u00e9ller')],
    ['very long', (right) => right.replace('seller', 's'.repeat(20_000))],
  ])('Authorization %s is refused', async (_name, change) => {
    const date = clock().toUTCString()
    const signature = signatureOf({ path: CONSUME, date, secret: seller.clientSecret })
    await expectRefused({ date, headers: { Authorization: change(`MWS seller:${signature}`) } })
  })

  it.each<[string, string | string[] | undefined]>([
    ['missing', undefined],
    ['empty', ''],
    ['doubled', ['@', '@']],
    ['doubled, an hour apart', ['@', 'Wed, 06 May 2026 11:34:20 GMT']],
  ])('Date %s is refused', async (_name, value) => {
    const date = clock().toUTCString()
    const sent = Array.isArray(value) ? value.map((each) => each.replace('@', date)) : value
    await expectRefused({ date, headers: { Date: sent } })
  })

  it('PartnerId of another partner, malformed or doubled is refused', async () => {
    const { partnerId } = seller
    const one = other.partnerId
    // The signature identifies the caller, so the answer names the signer.
    await expectRefused({ headers: { PartnerId: one } }, seller, partnerId)
    for (const bad of ['', 'seller', `-${partnerId}`, `${partnerId}.0`, `+${partnerId}`, '9'.repeat(40), '0x1b59']) {
      await expectRefused({ headers: { PartnerId: bad } }, seller, partnerId)
    }
    await expectRefused({ headers: { PartnerId: [partnerId, partnerId] } }, seller, '')
    await expectRefused({ headers: { PartnerId: [partnerId, one] } }, seller, '')
  })
})

describe('the signature', () => {
  it('of another partner is refused', async () => {
    await expectRefused({ signed: { secret: other.clientSecret } })
    await expectRefused({ headers: { PartnerId: undefined }, signed: { secret: other.clientSecret } }, seller, '')
  })

  it('of another partner reveals nothing about an order that is not its own', async () => {
    const orderId = await newOrder()
    const answer = await post({ body: consumption({ orderId }) }, other)
    expectAnswer(answer, failure(other, `order ${orderId} does not exist`))
  })

  it('of a suspended partner is refused until it is active again', async () => {
    const suspended = await makeSeller(client)
    const orderId = ++last
    await seedOrder(pool, { orderId, partnerId: Number(suspended.partnerId), quantity: 3 })
    await client.admin('POST', `/partners/${suspended.partnerId}/suspend`)
    const body = consumption({ orderId })
    expectAnswer(await post({ body }, suspended), failure(suspended, BA_FAILED))
    await client.admin('POST', `/partners/${suspended.partnerId}/activate`)
    expectAnswer(await post({ body }, suspended), success(suspended))
  })

  it('with either of two live secrets is accepted, and with a retired one refused', async () => {
    const first = await makeSeller(client)
    const rotate = async (): Promise<Seller> => {
      const path = `/partners/${first.partnerId}/rotate-secret`
      const { client_secret } = await client.admin('POST', path, { overlap_s: 3600 })
      return { ...first, clientSecret: String(client_secret) }
    }
    const accepted = async (by: Seller): Promise<boolean> => {
      const orderId = ++last
      await seedOrder(pool, { orderId, partnerId: Number(first.partnerId), quantity: 3 })
      const { text } = await post({ body: consumption({ orderId }) }, by)
      expect([success(first), failure(first, BA_FAILED)]).toContain(text)
      return text === success(first)
    }
    const second = await rotate()
    expect([await accepted(first), await accepted(second)]).toEqual([true, true])
    const third = await rotate()
    expect([await accepted(first), await accepted(second), await accepted(third)]).toEqual([true, false, true])
    const { secrets } = await client.admin('GET', `/partners/${first.partnerId}`)
    for (const { last_used_at } of secrets as { last_used_at: unknown }[]) expect(last_used_at).not.toBeNull()
  })
})

describe('the Date', () => {
  const at = (secondsLater: number) => clock(secondsLater).toUTCString()

  it.each<[string, () => string]>([
    ['with a day of one digit', () => at(0).replace(', 0', ', ')],
    ['just inside of the skew, old', () => at(-595)],
    ['just inside of the skew, new', () => at(598)],
  ])('%s is accepted', (_name, date) => expectAccepted({ date: date() }))

  it.each<[string, () => string]>([
    ['just outside of the skew, old', () => at(-603)],
    ['just outside of the skew, new', () => at(606)],
    ['with names in lower case', () => at(0).replace('Wed', 'wed').replace('May', 'may')],
    ['all in upper case', () => at(0).toUpperCase()],
    ['with the wrong weekday', () => at(0).replace('Wed', 'Thu')],
    ['in +0800', () => at(0).replace('GMT', '+0800')],
    ['in UTC', () => at(0).replace('GMT', 'UTC')],
    ['without a zone', () => at(0).replace(' GMT', '')],
    ['on 30 February', () => 'Mon, 30 Feb 2026 10:34:20 GMT'],
    ['on day 0', () => at(0).replace(', 06', ', 00')],
    ['at 24 hours', () => at(0).replace(/ 10:/, ' 24:')],
    ['at second 60', () => at(0).replace(/:\d\d GMT/, ':60 GMT')],
    ['as epoch seconds', () => String(Math.floor(clock().getTime() / 1000))],
    ['at the epoch', () => 'Thu, 01 Jan 1970 00:00:00 GMT'],
    ['in the year 10000', () => 'Sat, 06 May 10000 10:34:20 GMT'],
    ['in the year 0', () => 'Sat, 06 May 0000 10:34:20 GMT'],
    ['as ISO 8601', () => clock().toISOString()],
    ['with two spaces', () => at(0).replace(', ', ',  ')],
    ['with other digits', () => at(0).replace('2026', '\u00b2026')],
    ['very long', () => at(0) + ' '.repeat(10) + 'x'.repeat(20_000)],
  ])('%s is refused', (_name, date) => expectRefused({ date: date() }))
})

describe('the content type', () => {
  it.each([
    'application/json',
    'APPLICATION/JSON; CHARSET=UTF-8',
    'application/json;charset=UTF-8',
    'application/json ; charset = utf-8',
    'application/json; charset="utf-8"',
    'application/json; charset=utf8',
    'application/json;',
    'application/json; charset=utf-8;',
    'application/json;; charset=utf-8',
    'application/json; version',
    'application/vnd.seller+json',
    'application/problem+json; charset=Utf-8',
    'text/json',
  ])('%s is accepted', (type) => expectAccepted({ headers: { 'Content-Type': type } }))

  it.each([
    undefined,
    '',
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/jsonp',
    'application/xml',
    'json',
    '/',
    ';',
    'application/',
    'application/json, text/plain',
    '\u00e9',
    'application/json; charset=gbk',
    'application/json; charset=utf-16',
    'application/json; charset=',
    'x'.repeat(200),
  ])('%s is refused, and only a signed caller learns the reason', async (type) => {
    const orderId = await newOrder()
    const sending = { body: consumption({ orderId }), headers: { 'Content-Type': type } }
    const { text } = await post(sending)
    expect(text).toMatch(/^\{"code":300,"describe":"Content-Type/)
    expectAnswer(await post({ ...sending, signed: { secret: 'wrong' } }), failure(seller, BA_FAILED))
    expect(await usedOf(orderId)).toBe(0)
  })
})
