import { afterAll, describe, expect, it } from 'vitest'
import { orderReschedule } from '../../src/ticketing/interfaces/order.ts'
import { readAnswer } from '../../src/ticketing/interfaces/read-answer.ts'
import { setAesKey } from '../../src/ticketing/partners/aes-key.ts'
import { aesEncrypted } from '../aes.ts'
import { ADMIN_TOKEN } from '../harness.ts'
import { worldWithSeller } from '../partner-calls/fake-seller.ts'
import { sendNotice } from '../sandbox/notices.ts'

const PATH = '/mtp/api/order/reschedule/notice'

const AES_KEY = '0123456789abcdef'
const SUCCESS = { code: 200, describe: 'success', partnerId: '7001' }
const SEALED = 'KySuk7oNn6QfgzUaTZMIssYyDR5I9Gz8T34ZdBY2JyQ='

const { world, seller, close } = await worldWithSeller()
afterAll(close)

const send = (message: object, path = PATH) => sendNotice(world, seller, { path, body: JSON.stringify(message) })
async function shownToOperator(query = '', partnerId: string | bigint = seller.partnerId) {
  const answer = await world.app.inject({
    method: 'GET',
    url: `/admin/v1/partners/${partnerId}/notices${query}`,
    headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
  })
  return { status: answer.statusCode, ...answer.json() }
}

describe('a reschedule notice', () => {
  it('is stored as it came and shown to the operator, and has no other effect', async () => {
    const tables = ['ticket_order', 'record_change', 'graphile_worker._private_jobs']
    const counts = () => Promise.all(tables.map((table) => world.pool.query(`select count(*)::int as n from ${table}`)))
    const before = (await counts()).map(({ rows }) => rows[0].n)
    expect(await send({ partnerId: 7001, body: SEALED })).toEqual(SUCCESS)
    expect(await send({ partnerId: 7001, body: SEALED })).toEqual(SUCCESS)
    world.clock.advance(1)
    expect(await send({ partnerId: 7001, body: SEALED }, `/rhone${PATH}`)).toEqual(SUCCESS)
    expect((await counts()).map(({ rows }) => rows[0].n)).toEqual(before)
    const { data } = await shownToOperator('?kind=reschedule')
    expect(data.notices).toMatchObject([
      { path: `/rhone${PATH}`, refused: null, body: JSON.stringify({ partnerId: 7001, body: SEALED }) },
      { path: PATH, refused: null, body: JSON.stringify({ partnerId: 7001, body: SEALED }) },
    ])
  })

  it.each([
    ['readable', (text: string) => text, {}],
    ['wholly encrypted', (text: string) => aesEncrypted(AES_KEY, text), { 'X-Encryption-Status': 'encrypted' }],
  ])('whose body is an object is stored and shown, %s', async (_name, sealed, headers) => {
    await setAesKey(world.deps, 7001n, { aes_key: AES_KEY })
    world.clock.advance(60)
    const sent = JSON.stringify({ partnerId: 7001, body: { orderId: 1, rescheduleNo: _name } })
    expect(await sendNotice(world, seller, { path: PATH, body: sealed(sent), headers })).toEqual(SUCCESS)
    const { data } = await shownToOperator('?limit=1')
    expect(data.notices).toMatchObject([{ path: PATH, refused: null, body: sent }])
  })

  it.each([
    [{ partnerId: 7001 }, 'body is required'],
    [{ partnerId: 7001, body: 5 }, 'body must be a string or an object'],
    [{ partnerId: 7001, body: [SEALED] }, 'body must be a string or an object'],
    [{ partnerId: 7001, body: '' }, 'body must not be empty'],
    [{ partnerId: 7001, body: { text: 'A'.repeat(65_537) } }, 'body must have at most 65536 characters'],
    [{ partnerId: 7001, body: 'A'.repeat(65_537) }, 'body must have at most 65536 characters'],
    [{ partnerId: 7002, body: SEALED }, 'partnerId does not belong to the clientId of the signature'],
  ])('with an invalid partnerId or body is refused, naming the field', async (message, describe) => {
    expect(await send(message)).toEqual({ code: 300, describe, partnerId: '7001' })
  })
})

describe('the notices of a partner', () => {
  it('are listed page by page, accepted and refused ones, of one kind too', async () => {
    for (let sent = 0; sent < 3; sent++) {
      world.clock.advance(1)
      await send({ partnerId: 7001, body: `${sent}` })
      await send({ partnerId: 7001, body: sent })
    }
    for (const kind of ['', '&kind=reschedule']) {
      const [all, pages] = [(await shownToOperator(`?limit=200${kind}`)).data, [] as unknown[]]
      let next = ''
      do {
        const { data } = await shownToOperator(`?limit=4${kind}${next && `&after=${next}`}`)
        expect(data.notices.length).toBeLessThanOrEqual(4)
        pages.push(...data.notices)
        next = data.next
      } while (next)
      expect(all.next).toBeNull()
      expect(pages.length).toBeGreaterThanOrEqual(6)
      expect(pages).toEqual(all.notices)
    }
    expect((await shownToOperator('?limit=4&kind=consume')).data).toEqual({ notices: [], next: null })
  })

  it('are listed newest first, including refused ones with the reason', async () => {
    world.clock.advance(1)
    await send(
      { partnerId: 7001, issueType: 3, body: { orderId: 1, partnerOrderId: 'P' } },
      '/mtp/api/order/pay/notice',
    )
    const { data } = await shownToOperator('?limit=1')
    expect(data.notices).toEqual([
      {
        id: expect.any(String),
        received_at: expect.any(String),
        path: '/mtp/api/order/pay/notice',
        refused: 'issueType must be one of 0, 1, 2',
        body: expect.stringContaining('"issueType":3'),
      },
    ])
    expect((await shownToOperator('?kind=consume')).data.notices).toEqual([])
  })

  it('show no secret of the partner, not even its beginning where the body is cut', async () => {
    await setAesKey(world.deps, 7001n, { aes_key: AES_KEY })
    for (const secret of [seller.secret, AES_KEY]) {
      for (const before of [100, 16_384 - 40]) {
        world.clock.advance(60)
        expect(await send({ partnerId: 7001, body: `${'A'.repeat(before)}${secret}${'B'.repeat(9_000)}` })).toEqual(
          SUCCESS,
        )
        const [{ body }] = (await shownToOperator('?limit=1')).data.notices
        expect(body.slice(0, before + 80)).not.toContain(`A${secret.slice(0, 5)}`)
        expect(body.length).toBeLessThanOrEqual(16_384)
      }
    }
  })

  it.each([
    ['?kind=other', '', 400],
    ['?limit=201', '', 400],
    ['', '9999', 404],
  ])('cannot be requested with an invalid query or partner: %s %s', async (query, partnerId, status) => {
    expect(await shownToOperator(query, partnerId || undefined)).toMatchObject({ status, rescode: 20007 })
  })
})

describe('an answer to reschedule', () => {
  const body = { orderId: 1, rescheduleNo: 'R-1', successCount: 2 }
  it.each([
    [{}],
    [{ date: null, targetDate: null, requestTime: null, credentialVouchers: null }],
    [{ targetDate: '', credentialVouchers: [{ credentialNo: '1', voucher: null, additionMap: null }, null] }],
  ])('is valid with optional fields missing or null: %j', (more) => {
    const answer = { code: 200, describe: 'success', body: { ...body, ...more } }
    expect(readAnswer(orderReschedule, answer)).toMatchObject({ outcome: 'success' })
  })
})
