import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { showEntry } from '../../src/sandbox/portal/traffic/entry.ts'
import { listTraffic } from '../../src/sandbox/portal/traffic/list.ts'
import { trafficQuery } from '../../src/sandbox/portal/traffic/wire.ts'
import { setStage } from '../../src/ticketing/partners/partner.ts'
import { openWorld, type World } from '../harness.ts'
import { recordOf, seedOrder } from '../orders/orders.ts'
import { newSandboxPartner, type SandboxPartner } from '../sandbox/partners.ts'
import { signatureOf } from '../signer.ts'

/** Decided on 2026-11-22: strict for partners in stage sandbox, only warnings for live ones. */

const NOTICE = '/mtp/api/deal/change/notice'
const TOOL = '/mtp/api/order/test/ba'
let world: World
let partner: SandboxPartner
beforeAll(async () => {
  world = await openWorld({ TRUST_PROXY: '127.0.0.1' })
  partner = await newSandboxPartner(world, { partner_id: 7401, client_id: 'seller' })
})
afterAll(() => world.close())

interface Sent {
  readonly secret?: string
  readonly url?: string
  readonly signedPath?: string
  readonly partnerId?: string | null
  readonly bodyPartnerId?: boolean
  /** Sent instead of a product change. */
  readonly body?: object
}

let entry = 0
async function send({
  secret = partner.client_secret,
  url = NOTICE,
  signedPath = url.split('?')[0] ?? '',
  partnerId = '7401',
  bodyPartnerId = true,
  body = [{ partnerDealId: `D${++entry}`, status: 1 }],
}: Sent) {
  world.clock.advance(11)
  const date = world.clock.now().toUTCString()
  const answer = await world.app.inject({
    method: 'POST',
    url,
    payload: JSON.stringify({
      ...(bodyPartnerId ? { partnerId: 7401 } : {}),
      body,
    }),
    headers: {
      'content-type': 'application/json; charset=utf-8',
      ...(partnerId === null ? {} : { PartnerId: partnerId }),
      Date: date,
      Authorization: `MWS seller:${signatureOf({ path: signedPath, date, secret })}`,
    },
  })
  await world.deps.incoming.rejected.finish()
  return answer.json()
}
const newest = async () => {
  const [line] = (await listTraffic(world.deps, 7401n, trafficQuery.parse({}))).lines
  return showEntry(world.deps, 7401n, { kind: line?.kind ?? 'notice', id: line?.id ?? '' })
}

const CONSUME = '/mtp/api/order/consume/notice'
let orderId = 4_000_000_000
/** Reports both tickets of an order with one code per ticket as used. */
async function consume(more: object = {}) {
  await seedOrder(world.pool, { orderId: BigInt(++orderId), partnerId: 7401, vouchers: ['a', 'b'] })
  const numbers = { quantity: 2, usedQuantity: 2, refundedQuantity: 0 }
  return send({ url: CONSUME, body: { orderId, partnerOrderId: 'P-1', ...numbers, ...more } })
}
const code = (voucher: string) => ({ voucher, voucherInvalidTime: '2030-01-01 00:00:00', quantity: 1, status: 1 })
const CODES = { voucherList: [code('a'), code('b')] }

const CASES: [string, Sent, string][] = [
  ['no PartnerId header', { partnerId: null }, 'partner-id-missing'],
  ['a query that was signed', { url: `${NOTICE}?a=1`, signedPath: `${NOTICE}?a=1` }, 'query-signed'],
]

describe('in stage sandbox', () => {
  it.each(CASES)('a notice with %s is refused, naming the mistake', async (_name, sent, mistake) => {
    expect(await send(sent)).toMatchObject({ code: 300, describe: 'BA verification failed' })
    expect(await newest()).toMatchObject({ kind: 'rejected', verified: true, isSignature: true, mistakes: [mistake] })
  })

  it.each(CASES)('the signature tool does not pass a call with %s', async (_name, sent, mistake) => {
    const url = (sent.url ?? NOTICE).replace(NOTICE, TOOL)
    const answer = await send({ ...sent, url, signedPath: (sent.signedPath ?? NOTICE).replace(NOTICE, TOOL) })
    expect(answer).toMatchObject({ code: 300, diagnosis: { mistakes: [mistake] } })
  })

  it('a notice without partnerId in its body is refused, naming the field', async () => {
    expect(await send({ bodyPartnerId: false })).toMatchObject({ code: 300, describe: 'partnerId is required' })
  })

  it.each([{}, { voucherList: [] }, { voucherList: null }])(
    'a consumption of an order with one code per ticket is refused without voucherList: %j',
    async (more) => {
      expect(await consume(more)).toMatchObject({
        code: 300,
        describe: `body.voucherList is required: order ${orderId} has one code per ticket`,
      })
      expect(await newest()).toMatchObject({
        kind: 'rejected',
        failure: { detail: expect.stringContaining('voucherList') },
      })
      expect(await recordOf(world.pool, BigInt(orderId))).toMatchObject({ state: 'paid', used: 0 })
      expect(await consume(CODES)).toMatchObject({ code: 200 })
    },
  )

  it('a notice with the partnerOrderId of another order is refused, naming both', async () => {
    expect(await consume({ ...CODES, partnerOrderId: 'P-2' })).toMatchObject({
      code: 300,
      describe: `partnerOrderId is P-2; that of order ${orderId} is P-1`,
    })
  })

  it('a query string may be left out of the signature', async () => {
    expect(await send({ url: `${NOTICE}?a=1` })).toMatchObject({ code: 200 })
  })
})

describe('in stage live', () => {
  beforeAll(async () => {
    await setStage(world.deps, 7401n, { stage: 'live' })
  })

  it.each([...CASES, ['no partnerId in its body', { bodyPartnerId: false }, 'body-partner-id-missing'] as const])(
    'a notice with %s is accepted, with a warning in Traffic',
    async (_name, sent, warning) => {
      expect(await send(sent)).toMatchObject({ code: 200 })
      expect(await newest()).toMatchObject({ kind: 'notice', outcome: { name: 'succeeded' }, warnings: [warning] })
    },
  )

  it.each(CASES)('the signature tool passes a call with %s, with a warning', async (_name, sent, warning) => {
    const url = (sent.url ?? NOTICE).replace(NOTICE, TOOL)
    const answer = await send({ ...sent, url, signedPath: (sent.signedPath ?? NOTICE).replace(NOTICE, TOOL) })
    expect(answer).toMatchObject({ code: 200, warnings: [warning] })
  })

  it('a consumption of an order with one code per ticket is accepted without voucherList, with a warning', async () => {
    const lines = () =>
      world
        .logged()
        .split('\n')
        .filter((line) => line.includes('voucher-list-missing'))
    expect(await consume()).toMatchObject({ code: 200 })
    expect(await newest()).toMatchObject({ outcome: { name: 'succeeded' }, warnings: ['voucher-list-missing'] })
    expect(await recordOf(world.pool, BigInt(orderId))).toMatchObject({
      state: 'consumed',
      vouchers: { a: 'used', b: 'used' },
    })
    expect(lines()).toHaveLength(1)
    expect(JSON.parse(lines()[0] ?? '')).toMatchObject({ level: 40, partnerId: '7401', orderId: String(orderId) })
    expect(await consume(CODES)).toMatchObject({ code: 200 })
    expect(await newest()).toMatchObject({ warnings: [] })
  })

  it('a notice with the partnerOrderId of another order is refused, naming both', async () => {
    expect(await consume({ ...CODES, partnerOrderId: 'P-2' })).toMatchObject({
      code: 300,
      describe: `partnerOrderId is P-2; that of order ${orderId} is P-1`,
    })
  })

  it('a complete notice has no warning', async () => {
    expect(await send({})).toMatchObject({ code: 200 })
    expect(await newest()).toMatchObject({ warnings: [] })
  })

  it('the PartnerId of another partner is still refused', async () => {
    expect(await send({ partnerId: '1' })).toMatchObject({ code: 300 })
  })
})

describe('partnerId in the answer to a refused call', () => {
  it.each([
    ['notice of another PartnerId', { partnerId: '10001' }, '7401'],
    ['notice without a PartnerId', { partnerId: null }, '7401'],
    ['notice with an invalid PartnerId', { partnerId: 'x' }, '7401'],
    ['tool with another PartnerId', { url: TOOL, partnerId: '10001' }, '7401'],
    ['tool without a PartnerId', { url: TOOL, partnerId: null }, '7401'],
  ])('is that of the signer if the signature is valid: %s', async (_what, sent, partnerId) => {
    await setStage(world.deps, 7401n, { stage: 'sandbox' })
    expect(await send(sent)).toMatchObject({ code: 300, describe: 'BA verification failed', partnerId })
  })

  it.each([
    ['10001', '10001'],
    ['x', ''],
    [null, ''],
  ])('is otherwise the PartnerId that was sent: %s', async (sent, partnerId) => {
    for (const url of [NOTICE, TOOL]) {
      expect(await send({ url, partnerId: sent, secret: 'wrong' })).toMatchObject({ code: 300, partnerId })
    }
  })
})
