import { mkdtempSync, rmSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Client } from '../../acceptance/client.ts'
import { httpWire } from '../../acceptance/http.ts'
import { makeSeller, type Seller } from '../../acceptance/seller.ts'
import { type System, startSystem } from '../../acceptance/system.ts'
import { signatureOf } from '../../signer.ts'
import { certify } from '../partners/certify.ts'
import type { Json } from '../partners/program.ts'
import { LANGUAGES, type Language, missingFrom, Starter } from './starter.ts'

/** Each starter is downloaded from the sandbox of the built service and run unchanged. */

// The worst that a clientId may contain: each part has a special meaning in one of the languages.
const AWKWARD = `it's-"q"-$HOME-\`id\`-\\n-\\u0041-%s-{x}-{$y}-*/-?>-<b>&amp;`
/** Beyond 2^53: a double would round it. */
const LARGE_ID = 9_007_199_254_740_993n

let system: System
let client: Client
let folder: string
beforeAll(async () => {
  system = await startSystem({ PARTNER_ADDRESS_ALLOW: '127.0.0.1', SANDBOX_WAIT_S: '60' })
  client = new Client(httpWire(system.origin), system.origin)
  folder = mkdtempSync(join(tmpdir(), 'gatehouse-starters-'))
})
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true })
  await system.stop()
})

/** Downloads a file as a signed-in seller does. */
async function download({ clientId, clientSecret }: Seller, file: string): Promise<string> {
  const form = { client_id: clientId, client_secret: clientSecret }
  const headers = { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' }
  const wire = httpWire(system.origin)
  const signedIn = await wire({
    ...{ method: 'POST', path: '/sandbox/sign-in', headers },
    body: new URLSearchParams(form).toString(),
  })
  const cookie = [signedIn.headers['set-cookie']].flat().map((one) => String(one).split(';')[0])
  const answer = await wire({
    method: 'GET',
    path: `/sandbox/starters/${file}`,
    headers: { cookie: cookie.join('; ') },
  })
  expect(answer.status).toBe(200)
  return answer.text
}

/** Sends a command the way a web page in a browser on this machine could. */
const controlStatus = (port: number, headers: Record<string, string>): Promise<string> =>
  new Promise((resolve, reject) => {
    const body = '["list"]'
    const call = httpRequest({
      ...{ host: '127.0.0.1', port, method: 'POST' },
      headers: { 'content-length': body.length, ...headers },
    })
    call.on('error', reject).on('response', async (answer) => {
      resolve(Buffer.concat(await answer.toArray()).toString())
    })
    call.end(body)
  })

const skipped = (language: Language, missing: string): string => {
  const note = `NOT RUN: the starter ${language.file}, because this machine has no ${missing}`
  process.stderr.write(`${note}\n`)
  return note
}

describe.each(LANGUAGES.map((language, place) => ({ ...language, place })))('the starter $file', (language) => {
  const missing = missingFrom(language)
  let starter: Starter
  let seller: Seller
  let source: string
  beforeAll(async () => {
    if (missing !== undefined) return
    const ports = await Starter.ports()
    const partnerId = String(LARGE_ID + 2n * BigInt(language.place))
    const made = await makeSeller(client, {
      ...{ stage: 'sandbox', base_url: `http://127.0.0.1:${ports[0]}` },
      ...{ client_id: `${AWKWARD}${language.place}`, partner_id: partnerId },
    })
    seller = { ...made, partnerId } // makeSeller reads it with JSON.parse, which rounds
    source = await download(seller, language.file)
    const given = { folder: mkdtempSync(join(folder, 'run-')), me: seller, platformUrl: system.origin, source }
    starter = await Starter.start(language, given, ports)
  })
  afterAll(() => starter?.stop())

  it('is certified with every function', async (context) => {
    if (missing !== undefined) context.skip(skipped(language, missing))
    const certified = await certify(starter)
    expect({ ...certified, output: certified.passed ? '' : starter.output }).toEqual({
      ...{ passed: true, failures: [], warnings: [] },
      ...{ output: '' },
    })
  })

  it('sends each notice by command, any number of times', async (context) => {
    if (missing !== undefined) context.skip()
    const done = expect.stringContaining('"code":200')
    expect(await starter.command('test')).toEqual(done)
    const list = await starter.command('list')
    const [, later] = /order (\d+): LATER .* orderStatus 4/.exec(list) ?? []
    expect(await starter.command('issue', String(later))).toEqual(done)
    const [, used, total] = /order (\d+): TICKET .* orderStatus 4, \d+ tickets, ([1-9]) used/.exec(list) ?? []
    expect(await starter.command('used', String(used))).toEqual(done)
    expect(await starter.command('used', String(used), String(total))).toEqual(done)
    const [, review] = /refund (\S+) of order \d+: 200 success/.exec(list) ?? []
    // A decision is final: a later "no" sends the "yes" again.
    expect(await starter.command('refund', String(review), 'no')).toEqual(done)
    expect(await starter.command('change', 'SOLD-OUT')).toEqual(done)
    expect(await starter.command('change', 'SOLD-OUT', '5')).toEqual(done)
    for (const words of [['used', '1'], ['refund', 'none', 'yes'], ['change', 'nothing'], ['used', 'x'], ['help']]) {
      expect(await starter.command(...words)).not.toContain('"code"')
    }
  })

  it('takes only the product that a command names off sale', async (context) => {
    if (missing !== undefined) context.skip()
    const ids = async () => {
      const { body } = await starter.call('/product/query', '{"body":{"method":"page","currentPage":1,"pageSize":20}}')
      return (body as { partnerDealId: string }[]).map(({ partnerDealId }) => partnerDealId)
    }
    expect(await ids()).toEqual([...starter.products])
    await starter.command('change', 'SHOW', '0')
    expect(await ids()).toEqual(['TICKET', 'LATER', 'REVIEW', 'SOLD-OUT'])
    await starter.command('change', 'SHOW', '1')
    expect(await ids()).toEqual([...starter.products])
  })

  it('refuses an invalid body with the code of the interface, and names the field', async (context) => {
    if (missing !== undefined) context.skip()
    const envelope = { describe: expect.any(String), partnerId: seller.partnerId }
    const calls = [
      ['/order/create', '{"body":{}}', 410],
      ['/order/query', `{"body":{"orderId":${2n ** 63n - 1n}}}`, 301],
      ['/order/query', `{"body":{"orderId":${2n ** 64n}}}`, 399],
      ['/order/query', '{"body":{"orderId":1.5}}', 399],
      ['/order/query', '{"body":{"orderId":[]}}', 399],
      [
        '/product/price/query',
        '{"body":{"partnerDealId":"TICKET","startTime":"2026-02-30","endTime":"2026-03-01"}}',
        201,
      ],
      ['/product/query', '{"body":{"method":"page","currentPage":0,"pageSize":20}}', 399],
      ['/order/refund', '{"body":[]}', 699],
      ['/order/pay', 'not JSON', 599],
      ['/order/pay', '"text"', 599],
      ['/order/pay', '', 599],
      ['/order/close', '['.repeat(200_000), 300],
      ['/nothing', '{"body":{}}', 300],
    ] as const
    for (const [path, text, code] of calls) {
      expect({ path, text: text.slice(0, 80), ...(await starter.call(path, text)) }).toEqual({
        ...{ path, text: text.slice(0, 80), code },
        ...envelope,
      })
    }
    expect((await starter.call('/order/query', '{"body":{"orderId":9223372036854775807}}')).describe).toContain(
      '9223372036854775807',
    )
    expect((await starter.call('/order/create', '{"body":{}}')).describe).toContain('orderId')
  })

  it('keeps an order consistent through refused and repeated calls', async (context) => {
    if (missing !== undefined) context.skip()
    const ask = async (path: string, body: object): Promise<Json> =>
      starter.call(path, JSON.stringify({ body }).replace(/"(\d{16,})"/g, '$1'))
    const answerOf = async (path: string, body: object) => {
      const { code, body: answered } = await ask(path, body)
      return [code, answered ?? null]
    }
    const orderId = String(LARGE_ID * 3n)
    const day = new Date(Date.now() + 8 * 3_600_000 + 3 * 86_400_000).toISOString().slice(0, 10)
    const order = { partnerDealId: 'LATER', unitPrice: 88, buyPrice: '75.00', quantity: 2, travelDate: day }

    for (const [change, code] of [
      [{ unitPrice: 88.01 }, 410],
      [{ travelDate: '2020-01-01' }, 410],
      [{ quantity: 11 }, 422],
      [{ quantity: 0 }, 410],
      [{ partnerDealId: 'SOLD-OUT' }, 420],
      [{ partnerDealId: 'NOTHING' }, 421],
      [{ partnerDealId: 'SHOW' }, 410],
      [{ partnerDealId: 'SHOW', partnerPrimaryKey: `SHOW/${day}/C` }, 410],
    ] as const) {
      expect([change, await answerOf('/order/create', { orderId, ...order, ...change })]).toEqual([
        change,
        [code, null],
      ])
    }
    expect(await answerOf('/order/create', { orderId, ...order })).toEqual([
      200,
      { partnerOrderId: expect.any(String) },
    ])

    expect(await answerOf('/order/pay', { orderId })).toEqual([598, null])
    // The platform does not know this order and refuses the notice; the command may be repeated.
    expect(await starter.command('issue', orderId)).toContain(`order ${orderId} does not exist`)
    const [, paid] = await answerOf('/order/pay', { orderId })
    const { vouchers = [] } = paid as { vouchers?: string[] }
    expect(new Set(vouchers).size).toBe(2)
    expect(await answerOf('/order/pay', { orderId })).toEqual([200, paid])

    await starter.command('used', orderId, '1')
    const states = async (id = orderId) => {
      const { body } = await ask('/order/query', { orderId: id })
      const { usedQuantity, refundedQuantity, voucherList } = body as { voucherList: { status: number }[] } & Json
      return [usedQuantity, refundedQuantity, ...voucherList.map(({ status }) => status)]
    }
    expect(await states()).toEqual([1, 0, 1, 0])
    expect(await answerOf('/order/close', { orderId, closeType: 3 })).toEqual([300, null])
    const reschedule = { orderId, rescheduleNo: 'R1', originDate: day, targetDate: day }
    expect(await answerOf('/order/reschedule', reschedule)).toEqual([300, null])
    const refund = { orderId, refundId: 'F1', refundQuantity: 2, voucherList: [] }
    expect(await answerOf('/order/refund', refund)).toEqual([606, null])
    expect(await answerOf('/order/refund', { ...refund, refundQuantity: 1, voucherList: [vouchers[0]] })).toEqual([
      606,
      null,
    ])
    const message = { orderId, refundSerialNo: 'S1', refundPrice: -1, voucherList: [], count: 2 }
    for (const _again of [1, 2]) expect(await answerOf('/order/refunded', message)).toEqual([200, null])
    expect(await states()).toEqual([1, 1, 1, 2])

    const review = String(LARGE_ID * 5n)
    await ask('/order/create', { ...order, orderId: review, partnerDealId: 'REVIEW' })
    await ask('/order/pay', { orderId: review })
    const asked = { orderId: review, refundId: `F-${review}`, refundQuantity: 2, voucherList: [] }
    expect((await ask('/order/refund', asked)).code).toBe(602)
    expect((await ask('/order/refund', { ...asked, refundId: 'F3' })).code).toBe(606) // both tickets are under review
    await starter.command('refund', asked.refundId, 'no')
    expect((await ask('/order/refund', asked)).code).toBe(606)
    expect((await ask('/order/refund', { ...asked, refundId: 'F4' })).code).toBe(602) // released again

    const partly = String(LARGE_ID * 11n)
    await ask('/order/create', { ...order, orderId: partly, partnerDealId: 'TICKET' })
    await ask('/order/pay', { orderId: partly })
    await ask('/order/refund', { orderId: partly, refundId: 'F5', refundQuantity: 1, voucherList: [] })
    await ask('/order/close', { orderId: partly, closeType: 3 })
    expect(await states(partly)).toEqual([0, 1, 2, 3])

    const closed = String(LARGE_ID * 7n)
    expect(await answerOf('/order/close', { orderId: closed, closeType: 1 })).toEqual([200, null])
    expect(await answerOf('/order/create', { ...order, orderId: closed })).toEqual([499, null])
  })

  it('tells a caller with a wrong signature nothing', async (context) => {
    if (missing !== undefined) context.skip()
    const refused = { code: 300, describe: 'BA verification failed', partnerId: seller.partnerId }
    const changes: Record<string, string>[] = [{ Date: '' }, { Authorization: '' }, { Authorization: 'MWS' }]
    for (const change of [...changes, { Authorization: `MWS ${seller.clientId}:AAAAAAAAAAAAAAAAAAAAAAAAAAA=` }]) {
      expect(await starter.call('/nothing', 'not JSON', change)).toEqual(refused)
    }
    // Correctly signed at another time, like a recorded call that is replayed.
    const signed = (date: string, clientId = seller.clientId) => {
      const signature = signatureOf({ method: 'POST', path: '/alive', date, secret: seller.clientSecret })
      return starter.call('/alive', '{"body":{}}', { Date: date, Authorization: `MWS ${clientId}:${signature}` })
    }
    const at = (seconds: number) => new Date(Date.now() + seconds * 1_000).toUTCString()
    expect(await signed(at(-500))).toEqual({ ...refused, code: 200, describe: 'success' })
    for (const date of [at(-700), at(700), at(0).replace('GMT', 'UTC'), new Date().toISOString(), '']) {
      expect(await signed(date)).toEqual(refused)
    }
    expect(await signed(at(0), 'another')).toEqual(refused)
    const headers = starter.headers('/alive')
    expect(await starter.call('/product/query', '{"body":{}}', headers)).toEqual(refused)
  })

  it('takes commands only from programs on this machine', async (context) => {
    if (missing !== undefined || language.file === 'seller.php')
      return context.skip('commands of PHP do not go over HTTP')
    const host = `127.0.0.1:${starter.controlPort}`
    expect(await controlStatus(starter.controlPort, { host })).toContain('order ')
    expect(await controlStatus(starter.controlPort, { host: `evil.example:${starter.controlPort}` })).toBe('refused')
    expect(await controlStatus(starter.controlPort, { host, origin: 'null' })).toBe('refused')
    await expect(fetch(`http://127.0.0.2:${starter.controlPort}`, { method: 'POST' })).rejects.toThrow('fetch failed')
  })

  it('contains no secret, and prints none', async (context) => {
    if (missing !== undefined) context.skip()
    expect(source).not.toContain(seller.clientSecret)
    expect(starter.output).not.toContain(seller.clientSecret)
    expect(starter.output).toContain('refused')
  })
})
