import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { INTERFACES } from '../../src/ticketing/interfaces/index.ts'
import type { CallOptions } from '../../src/ticketing/partner-calls/exchange.ts'
import { removeAesKey, setAesKey } from '../../src/ticketing/partners/aes-key.ts'
import { findPartner, updatePartner } from '../../src/ticketing/partners/partner.ts'
import { aesEncrypted } from '../aes.ts'
import { openWorld, type World } from '../harness.ts'
import { callPartner } from './calls.ts'
import { type FakeSeller, fakeSeller, html, ok, status } from './fake-seller.ts'

const KEY = 'the key of 7001!'
const ORDER = 8_985_652_356_562_370_000n

let world: World
let seller: FakeSeller
beforeAll(async () => {
  world = await openWorld({ PARTNER_ADDRESS_ALLOW: '127.0.0.1' })
  seller = await fakeSeller(world, 7001, { aesKey: KEY })
})
afterAll(async () => {
  await seller.close()
  await world.close()
})
beforeEach(async () => {
  seller.calls.length = 0
  await setAesKey(world.deps, 7001n, { aes_key: KEY })
  await updatePartner(world.deps, 7001n, { encrypts_calls: true })
})

const partnerNow = async () => {
  const partner = await findPartner(world.deps, 7001n)
  if (!partner) throw new Error('no such partner')
  return partner
}
const query = async (options: Partial<CallOptions> = { orderId: ORDER }) =>
  callPartner(world.deps, await partnerNow(), 'order-query', { orderId: ORDER, partnerOrderId: 'P' }, options)
const queried = { orderId: ORDER, orderStatus: 4, orderQuantity: 2, usedQuantity: 0, refundedQuantity: 0 }
const recorded = async (callId: string) =>
  (await world.pool.query('select * from partner_call where call_id = $1', [callId])).rows[0]
const answered = (text: string, headers: Record<string, string> = {}) =>
  status(200, { 'Content-Type': 'application/json', ...headers }, text)
const json = (body: object) =>
  JSON.stringify({ code: 200, describe: 'success', body }, (_name, one) =>
    typeof one === 'bigint' ? String(one) : one,
  )

describe('a call to a partner whose calls are encrypted', () => {
  it('has bare Base64 as its body, is signed like any other, and its answer is decrypted', async () => {
    seller.on('/order/query', ok(queried))
    const result = await query()
    expect(result).toMatchObject({ outcome: 'success', answer: { body: { orderStatus: 4 } } })
    const [call] = seller.calls
    const text = `{"partnerId":7001,"body":{"orderId":${ORDER},"partnerOrderId":"P"}}`
    expect(call?.text).toBe(aesEncrypted(KEY, text))
    expect(call).toMatchObject({
      signedRight: true,
      body: { orderId: ORDER },
      headers: {
        appkey: 'seller-7001',
        'x-encryption-status': 'encrypted',
        'content-type': 'application/json; charset=utf-8',
      },
    })
  })

  it('is recorded in readable form, with its headers and without the key', async () => {
    seller.on('/order/query', ok({ ...queried, leak: KEY }))
    const { callId } = await query()
    const row = await recorded(callId)
    expect(row.request_body).toBe(`{"partnerId":7001,"body":{"orderId":${ORDER},"partnerOrderId":"P"}}`)
    expect(row.request_headers).toMatchObject({ 'X-Encryption-Status': 'encrypted', AppKey: 'seller-7001' })
    expect(JSON.parse(row.response_body)).toMatchObject({ code: 200, body: { leak: '[secret]' } })
    expect(row.response_headers).toMatchObject({
      'x-encryption-status': 'encrypted',
      'gatehouse-body-decrypted': 'yes',
    })
    expect(JSON.stringify(row)).not.toContain(KEY)
    expect(world.logged()).not.toContain(KEY)
  })

  it('is encrypted for the interfaces named in the contract, and carries the clientId for all', async () => {
    const encrypted = INTERFACES.filter((entry) => entry.encrypted).map(({ name }) => name)
    expect(encrypted).toEqual([
      ...['level-price-calendar', 'order-create', 'order-pay', 'order-query', 'order-refund', 'order-refunded'],
      'order-close',
    ])
    await callPartner(world.deps, await partnerNow(), 'heartbeat', {})
    expect(seller.calls).toMatchObject([{ text: '{"partnerId":7001,"body":{}}', headers: { appkey: 'seller-7001' } }])
    expect(seller.calls[0]?.headers['x-encryption-status']).toBeUndefined()
  })

  it('carries a forged clientId in AppKey too', async () => {
    seller.on('/order/query', ok(queried))
    await query({ forge: 'client' })
    expect(seller.calls[0]?.headers.appkey).toMatch(/^unknown-/)
  })
})

describe('an answer', () => {
  const whole = json(queried)
  it.each<[string, () => ReturnType<typeof answered>]>([
    ['encrypted, with the header', () => answered(aesEncrypted(KEY, whole), { 'X-Encryption-Status': 'encrypted' })],
    ['encrypted, without it', () => answered(aesEncrypted(KEY, whole))],
    ['readable', () => answered(whole)],
    ['readable, with the header all the same', () => answered(whole, { 'X-Encryption-Status': 'encrypted' })],
  ])('is read in either form, whether or not the call was encrypted: %s', async (_name, answer) => {
    for (const encrypts_calls of [true, false]) {
      await updatePartner(world.deps, 7001n, { encrypts_calls })
      seller.on('/order/query', answer())
      const result = await query()
      expect(result).toMatchObject({ outcome: 'success', answer: { body: { orderStatus: 4 } } })
      expect((await recorded(result.callId)).response_body).toBe(whole)
    }
  })

  const UNFIT = 'the encrypted body does not decrypt to JSON with the AES key of this partner'
  it.each<[string, string, string]>([
    ['another key', aesEncrypted('another key, 16.', whole), UNFIT],
    ['text that is not JSON', aesEncrypted(KEY, 'not JSON at all'), UNFIT],
    ['bytes that are no UTF-8', aesEncrypted(KEY, Buffer.from([0xff, 0xfe, 0x7b])), UNFIT],
    [
      'the last block cut off',
      Buffer.from(aesEncrypted(KEY, whole), 'base64').subarray(0, -16).toString('base64'),
      UNFIT,
    ],
    ['cut off in a block', aesEncrypted(KEY, whole).slice(0, -8), 'the encrypted body is incomplete'],
  ])('that cannot be decrypted is a failure with the reason: %s', async (_name, text, problem) => {
    seller.on('/order/query', answered(text))
    const result = await query()
    expect(result).toMatchObject({
      outcome: 'failed',
      failure: { kind: 'encryption', detail: expect.stringContaining(problem), maybe_received: true },
    })
    expect(await recorded(result.callId)).toMatchObject({ failure: 'encryption', code: null })
  })

  it('that is encrypted is reported as such if no key is set', async () => {
    await removeAesKey(world.deps, 7001n)
    seller.on('/order/query', answered(aesEncrypted(KEY, whole)))
    const result = await query()
    expect(result).toMatchObject({
      failure: { kind: 'encryption', detail: 'the body is encrypted, but no AES key is set for this partner' },
    })
    expect((await recorded(result.callId)).response_body).toBe(aesEncrypted(KEY, whole))
    expect(seller.calls[0]?.headers.appkey).toBeUndefined()
    seller.on('/order/query', html)
    expect(await query()).toMatchObject({ failure: { kind: 'json', detail: expect.stringContaining('not JSON') } })
  })

  it('may be as long as any other: 1 MiB of Base64', async () => {
    const long = (length: number) => json({ ...queried, padding: 'x'.repeat(length) })
    const fits = aesEncrypted(KEY, long(780_000))
    expect(fits.length).toBeLessThan(1_048_576)
    seller.on('/order/query', answered(fits))
    expect(await query()).toMatchObject({ outcome: 'success' })
    seller.on('/order/query', answered(aesEncrypted(KEY, long(800_000))))
    expect(await query()).toMatchObject({ failure: { kind: 'too-large' } })
  })
})
