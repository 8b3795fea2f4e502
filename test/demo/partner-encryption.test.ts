import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { levelPriceNotice } from '../../src/ticketing/mtp/wire.ts'
import { readNotice } from '../../src/ticketing/mws/index.ts'
import { aesDecrypted, aesEncrypted } from '../aes.ts'
import { openPartner, PARTNER, type TestPartner } from './partner.ts'

/** The demo partner with encrypted bodies, against a fake platform. */

let platform: Server
let partner: TestPartner
const notices: { path: string; headers: NodeJS.Dict<string | string[]>; text: string }[] = []

beforeAll(async () => {
  platform = createServer(async (request, response) => {
    const text = Buffer.concat(await request.toArray()).toString()
    notices.push({ path: request.url ?? '', headers: request.headers, text })
    response.end('{"code":200,"describe":"success","partnerId":"7001"}')
  })
  await new Promise<void>((done) => platform.listen(0, '127.0.0.1', done))
  partner = await openPartner(`http://127.0.0.1:${(platform.address() as AddressInfo).port}`)
})
afterAll(async () => {
  await partner.app.close()
  platform.close()
})
beforeEach(() => {
  notices.length = 0
})

const { aesKey } = PARTNER
const HEADERS = { AppKey: PARTNER.clientId, 'X-Encryption-Status': 'encrypted' }
const PATH = '/order/query'
const TEXT = '{"partnerId":7001,"body":{"orderId":1,"partnerOrderId":""}}'

describe('an encrypted call', () => {
  it('gets the same answer as a plain call, encrypted', async () => {
    const plain = await partner.send(PATH, TEXT)
    const answer = await partner.send(PATH, aesEncrypted(aesKey, TEXT), { headers: HEADERS })
    expect([plain.headers['x-encryption-status'], answer.headers['x-encryption-status']]).toEqual([
      undefined,
      'encrypted',
    ])
    expect(aesDecrypted(aesKey, answer.body)).toBe(plain.body)
    expect(JSON.parse(plain.body)).toMatchObject({ code: 301 })
  })

  it('is refused in plain text when it cannot be decrypted or its signature is wrong', async () => {
    const wrong = [
      aesEncrypted('another key, 16.', TEXT),
      aesEncrypted(aesKey, TEXT).slice(0, 30),
      'no Base64 at all!',
      '',
    ]
    for (const text of wrong) {
      const answer = await partner.send(PATH, text, { headers: HEADERS })
      expect(JSON.parse(answer.body)).toMatchObject({ code: 300, describe: 'the body cannot be decrypted' })
    }
    const unsigned = await partner.send(PATH, aesEncrypted(aesKey, TEXT), { headers: HEADERS, secret: 'wrong' })
    expect(JSON.parse(unsigned.body)).toMatchObject({ code: 300, describe: 'BA verification failed' })
    expect(partner.logged()).not.toContain(aesKey)
  })
})

describe('a level price notice', () => {
  it('is sent encrypted, ten days at a time, and is valid for the platform', async () => {
    await partner.control('level-prices', {
      partnerDealId: 'DEMO-SHOW',
      startTime: '2026-05-07',
      endTime: '2026-05-28',
    })
    expect(notices.map(({ path }) => path)).toEqual(Array(3).fill('/mtp/api/level/price/notice/v2'))
    const ranges = notices.map(({ text, headers }) => {
      expect(headers).toMatchObject({ 'x-encryption-status': 'encrypted', appkey: 'demo-partner' })
      const read = readNotice(levelPriceNotice, Buffer.from(aesDecrypted(aesKey, text)))
      if ('problem' in read) throw new Error(String(read.problem))
      return [read.notice.startTime, read.notice.endTime, read.notice.body.length]
    })
    expect(ranges.sort()).toEqual([
      ['2026-05-07', '2026-05-16', 40],
      ['2026-05-17', '2026-05-26', 40],
      ['2026-05-27', '2026-05-28', 8],
    ])
  })

  it('is the only notice that is encrypted', async () => {
    await partner.control('change-product', { partnerDealId: 'DEMO-BOAT', mtPrice: 90 })
    expect(notices.at(-1)?.text).toContain('"status":5')
  })
})

it('the mistake answer-wrong-aes-key encrypts every answer with another key, even to a plain call', async () => {
  await partner.control('mistakes', { mistakes: ['answer-wrong-aes-key'] })
  const answer = await partner.send('/alive', '{"partnerId":7001}')
  expect(answer.headers['x-encryption-status']).toBe('encrypted')
  expect(() => JSON.parse(aesDecrypted(aesKey, answer.body))).toThrow()
  await partner.control('mistakes', { mistakes: [] })
  expect(JSON.parse((await partner.send('/alive', '{"partnerId":7001}')).body)).toMatchObject({ code: 200 })
})
